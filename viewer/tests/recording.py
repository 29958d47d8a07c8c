"""Reads a recording with Rerun and compares it with the run record it was made of. Used by `cargo xtask rerun`.

Places in the recording are those of the animation, which rounds them to 1/65535 of the size of the motion and to 32 bits. Between rows of
the record bodies move on straight lines, as in the animation.
"""

import csv
import json
import math
import os
import sys

import numpy
from rerun import dataframe


def main():
    recording, record = sys.argv[1:]
    with open(os.path.join(record, "trajectory.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    names = [name.split(" ")[0] for name in rows[0]]
    values = numpy.array([[float(x) for x in row] for row in rows[1:]])
    with open(os.path.join(record, "animation.json"), encoding="utf-8") as file:
        animation = json.load(file)
    step = math.dist(animation["low"], animation["high"]) / 65535
    tolerance = step + 1e-6 * max(abs(x) for x in animation["low"] + animation["high"])

    found = dataframe.load_recording(recording)
    frames, compared, largest = set(), 0, 0.0
    for node in animation["nodes"]:
        body = node["name"].removeprefix("body.")
        columns = [f"body.{body}.position.{axis}" for axis in "xyz"]
        if any(column not in names for column in columns):
            continue
        entity = "/bodies/" + body.replace(".", "/")
        table = found.view(index="time", contents=entity).select().read_all()
        translation = next(name for name in table.column_names if name.endswith("translation"))
        places = table.column(translation).to_pylist()
        seconds = [cell.value / 1e9 for cell in table.column("time")]
        for second, place in zip(seconds, places, strict=True):
            frames.add(second)
            for column, x in zip(columns, place[0], strict=True):
                exact = numpy.interp(second, values[:, 0], values[:, names.index(column)])
                largest = max(largest, abs(x - exact))
                compared += 1
    entities = sorted({str(column.entity_path) for column in found.schema().component_columns()})
    solids = [entity for entity in entities if "/solid" in entity]
    print(f"{os.path.basename(recording)}: {len(frames)} frames, {len(entities)} entities, {len(solids)} solids, "
          f"{compared} numbers, largest difference {largest:.1e} m of {tolerance:.1e} m allowed")
    if compared == 0 or len(frames) < 2 or len(solids) != len(animation["solids"]) or largest > tolerance:
        sys.exit(f"{recording} does not tell the same as its record")


if __name__ == "__main__":
    main()
