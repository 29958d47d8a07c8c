// The time that is shown: one clock for the view, the plots and the table of events.

type Listener = (time: number) => void;

/** Plays, pauses and jumps between two times. */
export class Clock {
  time = 0;
  playing = false;
  loop = true;
  /** Seconds of the run in a second of display, before the factor below. */
  pace = 1;
  speed = 1;
  start = 0;
  end = 1;
  private readonly listeners = new Set<Listener>();
  private readonly switches = new Set<() => void>();
  private frame = 0;
  private last = 0;

  /** Calls a listener with every new time until the function it gives is called. */
  onTime(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called when the clock starts or stops. */
  onSwitch(listener: () => void): () => void {
    this.switches.add(listener);
    return () => this.switches.delete(listener);
  }

  /** Goes to a time. */
  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.start), this.end);
    for (const listener of this.listeners) listener(this.time);
  }

  /** Sets the range and stays inside it. */
  range(start: number, end: number): void {
    this.start = start;
    this.end = Math.max(end, start);
    this.seek(this.time);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.time >= this.end) this.seek(this.start);
    this.playing = true;
    this.last = performance.now();
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.tick(now));
    for (const listener of this.switches) listener();
  }

  /** Goes on as long as it plays, however many pictures follow it. */
  private tick(now: number): void {
    this.frame = 0;
    if (!this.playing) return;
    // A page that was hidden does not jump.
    this.advance(Math.min(Math.max(now - this.last, 0) / 1000, 0.25));
    this.last = now;
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.playing = false;
    for (const listener of this.switches) listener();
  }

  /** Moves on by a real duration in s. */
  private advance(seconds: number): void {
    let time = this.time + seconds * this.pace * this.speed;
    if (time > this.end) {
      if (!this.loop) {
        this.seek(this.end);
        this.pause();
        return;
      }
      const span = this.end - this.start;
      time = span > 0 ? this.start + ((time - this.start) % span) : this.start;
    }
    this.seek(time);
  }
}
