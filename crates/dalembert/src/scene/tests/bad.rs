//! Bad scenes: the message and its place, to the column.

use super::*;

/// The errors of a text, one line each.
fn lines(text: &str) -> String {
    read(text).unwrap_err().plain()
}

fn set_lines(text: &str, setting: &str) -> String {
    read_set(text, &[setting]).unwrap_err().plain()
}

/// The error of reading the first body into [`Rigid`].
fn body_lines(text: &str) -> String {
    read(text).unwrap().section("body").next().unwrap().deserialize_element::<Rigid>().unwrap_err().plain()
}

fn load_lines(loader: &MemoryLoader, limits: &Limits) -> String {
    Document::load(loader, "a.toml", &Overrides::none(), limits).unwrap_err().plain()
}

#[test]
fn wrong_types() {
    let body = |line: &str| body_lines(&format!("[body.a]\nkind = 'rigid'\nmass = 1\n{line}\n"));
    for (line, expected) in [
        (
            "count = 'three'",
            "4:9: expected a whole number that is not negative, found the text \"three\" (numbers stand without quotes; arithmetic starts with `=`)",
        ),
        ("count = -1", "4:9: expected a whole number that is not negative, found the number -1"),
        ("count = 1.5", "4:9: expected a whole number that is not negative, found the number 1.5"),
        ("position = 3", "4:12: expected an array of length 3, found the number 3"),
        ("position = [1, 2]", "4:12: expected an array of length 3, found 2 elements"),
        ("position = [1, 2, 3, 4]", "4:12: expected 3 elements, found 4"),
        ("position = [1, true, 3]", "4:16: expected a number, found `true`"),
        ("label = 3", "4:9: expected text, found the number 3"),
        ("label = [1]", "4:9: expected text, found an array"),
        ("shape = 'sphre'", "4:9: unknown choice `sphre` (did you mean `sphere`?)"),
        ("shape = 'sphere'", "4:9: the choice `sphere` needs a value: write { sphere = … }"),
        ("shape = { sphere = { radius = 0 } }", "4:31: must be positive, found 0"),
        ("shape = { sphere = { radios = 1 } }", "4:22: unknown key `radios` (did you mean `radius`?)"),
        ("shape = { sphere = {} }", "4:20: missing key `radius`"),
        ("shape = { points = [[1, 2], [1]] }", "4:29: expected an array of length 2, found 1 elements"),
        ("shape = 1", "4:9: expected a name, found the number 1"),
    ] {
        assert_eq!(body(line), format!("a.toml:{expected}"), "{line}");
    }
}

#[test]
fn unknown_and_missing_keys() {
    assert_eq!(
        body_lines("[body.a]\nmass = 1\npositon = [0, 0, 0]\n"),
        "a.toml:3:1: unknown key `positon` (did you mean `position`?)"
    );
    assert_eq!(
        body_lines("[body.a]\nmass = 1\ncolour = 1\n"),
        "a.toml:3:1: unknown key `colour` (expected one of mass, position, count, shape, label)"
    );
    assert_eq!(body_lines("\n  [body.a]\nkind = 'rigid'\n"), "a.toml:2:3: missing key `mass`");
    assert_eq!(body_lines("body.a = { count = 1 }\n"), "a.toml:1:10: missing key `mass`");
    // `kind` is hidden only where the caller knows it.
    let document = read("[body.a]\nkind = 'rigid'\nmass = 1\n").unwrap();
    let error = document.section("body").next().unwrap().deserialize::<Rigid>().unwrap_err();
    assert!(error.plain().starts_with("a.toml:2:1: unknown key `kind`"));
}

#[test]
fn kinds() {
    let document = read("[body.a]\nmass = 1\n[body.b]\nkind = 3\n").unwrap();
    let kinds: Vec<_> = document.section("body").map(|entry| entry.kind().unwrap_err().plain()).collect();
    assert_eq!(
        kinds,
        ["a.toml:1:1: `body.a` has no `kind`", "a.toml:4:8: expected the name of a kind, found the number 3"]
    );
}

#[test]
fn sections() {
    let document = read("[bdy.a]\n[zzz]\n[body]\nx = 1\n[run]\n[parameters]\n").unwrap();
    assert_eq!(
        document.check_sections(&["body", "joint"]).unwrap_err().plain(),
        "a.toml:1:2: unknown section `bdy` (did you mean `body`?)\n\
         a.toml:2:2: unknown section `zzz` (expected one of body, joint, parameters, repeat, set, scene, world, run, output)\n\
         a.toml:4:5: `body.x` must be a table, found the number 1"
    );
    assert_eq!(lines("body = 3\n"), "a.toml:1:8: `body` must be a table, found the number 3");
    assert_eq!(lines("[[body]]\nx = 1\n"), "a.toml:1:1: `body` must be a table, found an array of 1");
    assert_eq!(lines("parameters = 1\n"), "a.toml:1:14: `parameters` must be a table, found the number 1");
    assert_eq!(
        lines("[scene]\nformat = 2\n"),
        "a.toml:2:10: the format of this scene is the number 2, this program reads format 1"
    );
}

#[test]
fn syntax() {
    assert_eq!(lines("[body.a\nmass = 1\n"), "a.toml:1:8: unclosed table, expected `]` (the file must be valid TOML)");
    assert!(lines("a = 1\na = 2\n").starts_with("a.toml:2:1: duplicate key"), "{}", lines("a = 1\na = 2\n"));
    assert!(lines("x = \"ä\ny = 1").starts_with("a.toml:1:"), "{}", lines("x = \"ä\ny = 1"));
    assert_eq!(lines("[a]\nx = 1979-05-27\n"), "a.toml:2:5: dates have no meaning in a scene (put the date in quotes)");
    assert_eq!(lines("[a]\nx = nan\n"), "a.toml:2:5: nan is not a number that a scene can use");
    assert_eq!(lines("[a]\nx = 1e999\n"), "a.toml:2:5: the number 1e999 does not fit a double");
    assert_eq!(
        lines("[a]\nx = 99999999999999999999\n"),
        "a.toml:2:5: the whole number 99999999999999999999 does not fit 64 bits (write it with a decimal point)"
    );
}

#[test]
fn parameters() {
    assert_eq!(
        lines("[parameters]\na = '= b'\nb = \"= 2*c\"\nc = '= a + 1'\nd = '= a'\n"),
        "a.toml:2:5: parameters refer to each other in a circle: a → b → c → a"
    );
    assert_eq!(lines("[parameters]\nlong = '= long'\n"), "a.toml:2:8: the parameter `long` refers to itself");
    assert_eq!(
        lines("[parameters]\na = '= lenght + wdth'\nlength = 1\nwidth = '= 3*q'\n"),
        "a.toml:2:8: unknown parameter `lenght` (did you mean `length`?)\n\
         a.toml:2:17: unknown parameter `wdth` (did you mean `width`?)\n\
         a.toml:4:14: unknown parameter `q` (parameters are defined under [parameters])"
    );
    assert_eq!(
        lines("[parameters]\nx = 0\ny = '= 1 + 2/x'\nz = '= y'\n"),
        "a.toml:3:12: this quotient (a division by zero?) is not a finite number"
    );
    assert_eq!(
        lines("[parameters]\nx = '= 2 +'\n"),
        "a.toml:2:11: expected a number, a name or `(`, found the end of the expression"
    );
    assert_eq!(
        lines("[parameters]\nx = 'two'\n"),
        "a.toml:2:5: the parameter `x` must be a finite number, found the text \"two\" (arithmetic starts with `=`, as in \"= 2*length\")"
    );
    assert_eq!(
        lines("[parameters]\npi = 3\n"),
        "a.toml:2:1: `pi` already has a meaning in arithmetic (choose another name)"
    );
    assert!(lines("[parameters]\na-b = 3\n").starts_with("a.toml:2:1: `a-b` cannot be a name in arithmetic"));
    assert_eq!(
        lines("[parameters]\nx = { value = 5, max = 3 }\n"),
        "a.toml:2:15: the parameter `x` is 5, beyond its max 3"
    );
    assert_eq!(
        lines("[parameters]\nx = { value = 5, mix = 3 }\n"),
        "a.toml:2:18: unknown key `mix` (did you mean `min`?)"
    );
    assert_eq!(lines("[parameters]\nx = { min = 3 }\n"), "a.toml:2:5: the parameter `x` has no `value`");
    // An escape hides the exact place: the whole string is shown.
    assert_eq!(
        lines("[run]\nx = \"= 1 +\\u0020q\"\n"),
        "a.toml:2:5: unknown parameter `q` (parameters are defined under [parameters])"
    );
    assert_eq!(
        lines("[run]\nx = '''= 1 + q'''\n"),
        "a.toml:2:14: unknown parameter `q` (parameters are defined under [parameters])"
    );
}

#[test]
fn many_problems_are_cut_short() {
    let text: String = (0..50).map(|i| format!("x{i} = '= missing'\n")).collect();
    let error = read(&format!("[run]\n{text}")).unwrap_err();
    assert_eq!(error.problems().len(), MOST_PROBLEMS);
    assert!(error.plain().ends_with("and more"));
    assert_eq!(error.to_string(), "more than 20 problems in the scene");
}

#[test]
fn includes() {
    let limits = Limits::default();
    let circle = MemoryLoader::new()
        .with("a.toml", "include = ['b.toml']\n")
        .with("b.toml", "\ninclude = 'c.toml'\n")
        .with("c.toml", "include = ['./b.toml']\n");
    assert_eq!(
        load_lines(&circle, &limits),
        "c.toml:1:12: files include each other in a circle: b.toml → c.toml → b.toml"
    );
    let itself = MemoryLoader::new().with("a.toml", "include = 'a.toml'");
    assert_eq!(load_lines(&itself, &limits), "a.toml:1:11: files include each other in a circle: a.toml → a.toml");
    let missing = MemoryLoader::new().with("a.toml", "include = ['comon.toml', 3]\n").with("common.toml", "");
    assert_eq!(
        load_lines(&missing, &limits),
        "a.toml:1:12: there is no file `comon.toml` (did you mean `common.toml`?)\n\
         a.toml:1:26: expected the name of a file, found the number 3 (write include = [\"common.toml\"])"
    );
    assert_eq!(load_lines(&MemoryLoader::new(), &limits), "there is no file `a.toml`");
    let inside = MemoryLoader::new().with("a.toml", "include = ['b.toml']").with("b.toml", "\n\n x 1");
    assert!(load_lines(&inside, &limits).starts_with("b.toml:3:"), "{}", load_lines(&inside, &limits));
    let mut chain = MemoryLoader::new().with("a.toml", "include = 'f0.toml'");
    for i in 0..20 {
        chain = chain.with(format!("f{i}.toml"), format!("include = 'f{}.toml'", i + 1));
    }
    assert_eq!(load_lines(&chain, &limits), "f15.toml:1:11: files include each other more than 16 deep");
    let few = Limits { files: 3, ..Limits::default() };
    assert_eq!(load_lines(&chain, &few), "f1.toml:1:11: the scene has more than 3 files");
    let small = Limits { file_size: 8, ..Limits::default() };
    assert_eq!(load_lines(&chain, &small), "the file `a.toml` is larger than 8 bytes");
}

#[test]
fn not_utf8() {
    let loader = MemoryLoader::new().with("a.toml", b"[run]\nx = '\xc3\xa4\xff'\n".to_vec());
    assert_eq!(
        load_lines(&loader, &Limits::default()),
        "a.toml:2:7: the file is not UTF-8: byte 0xff at offset 13 (save the file as UTF-8 text)"
    );
}

#[test]
fn depth() {
    let deep = |n: usize| format!("[run]\nx = {}1{}\n", "[".repeat(n), "]".repeat(n));
    assert!(read(&deep(60)).is_ok());
    assert_eq!(lines(&deep(64)), "a.toml:2:68: nested deeper than 64 levels");
    assert_eq!(lines(&deep(1_000_000)), "a.toml:2:68: nested deeper than 64 levels");
    assert_eq!(lines(&format!("x{} = 1", ".x".repeat(100_000))), "a.toml:1:130: nested deeper than 64 levels");
    let inline = "{a.a.a.a.a.a.a.a.a=".repeat(70);
    assert!(lines(&format!("x = {inline}")).ends_with("nested deeper than 64 levels"));
    let tables: String = (1..100).map(|n| format!("[{}a]\n", "a.".repeat(n))).collect();
    assert!(lines(&tables).ends_with("nested deeper than 64 levels"));
    // Limits above what the TOML reader takes do not help.
    let limits = Limits { nesting: 1_000_000, ..Limits::default() };
    let error = Document::from_text("a.toml", &deep(100_000), &Overrides::none(), &limits).unwrap_err();
    assert_eq!(error.plain(), "a.toml:2:83: nested deeper than 79 levels");
}

#[test]
fn sizes() {
    let limits = Limits { string_length: 100, expression_length: 50, entries: 3, ..Limits::default() };
    let read = |text: &str| Document::from_text("a.toml", text, &Overrides::none(), &limits).unwrap_err().plain();
    let x = "x".repeat(101);
    assert_eq!(read(&format!("[run]\ny = '{x}'")), "a.toml:2:5: this text has 101 bytes, the limit is 100");
    assert_eq!(read(&format!("[run]\n{x} = 1")), "a.toml:2:1: this key has 101 bytes, the limit is 100");
    let sum = "1+".repeat(30);
    assert_eq!(
        read(&format!("[run]\ny = '={sum}1'")),
        "a.toml:2:7: the expression has 61 bytes, the limit is 50 (split it into several parameters)"
    );
    assert_eq!(read("[a]\nb = 1\nc = 1\n[d]\ne = 1\nf = 1"), "the scene has 4 entries, the limit is 3");
}

#[test]
fn huge_repeats_fail_before_they_start() {
    let text = "[parameters]\nn = 1e9\n[[repeat]]\nto = '= n'\n[repeat.body.'b{i}']\nkind = 'rigid'\n";
    assert_eq!(
        lines(text),
        "a.toml:3:1: repeating 1000000000 times makes more than 1000000 elements in the scene (check `from` and `to`)"
    );
    let nested = "[[repeat]]\nto = 1000\n[[repeat.repeat]]\nindex = 'j'\nto = 1000\n[[repeat.repeat.repeat]]\nindex = 'k'\nto = 1000\n";
    assert!(lines(nested).starts_with("a.toml:6:1: repeating 1000 times makes more than"), "{}", lines(nested));
    let heavy = format!("[[repeat]]\nto = 999999\n[repeat.body.'b{{i}}']\nx = '{}'\n", "x".repeat(60_000));
    assert_eq!(
        lines(&heavy),
        "a.toml:1:1: repeating 999999 times fills more than 1073741824 bytes (check `from` and `to`)"
    );
    let limits = Limits::default();
    let mut deep = String::new();
    for depth in 1..=limits.repeat_depth + 1 {
        let name = vec!["repeat"; depth].join(".");
        deep.push_str(&format!("[[{name}]]\nindex = 'i{depth}'\nto = 1\n"));
    }
    assert_eq!(lines(&deep), "a.toml:25:1: repeats are nested deeper than 8 levels");
}

#[test]
fn bad_repeats() {
    let repeat = |text: &str| lines(&format!("[parameters]\nn = 2\n[[repeat]]\n{text}"));
    for (text, expected) in [
        ("from = 1", "3:1: missing key `to` in a repeat (say where the index ends: to = 10)"),
        ("to = 1.5", "4:6: expected a whole number, found 1.5"),
        ("to = 'x'", "4:6: expected a whole number, found the text \"x\""),
        ("to = '= m'", "4:9: unknown parameter `m` (parameters are defined under [parameters])"),
        ("to = 1e300", "4:6: the index must lie within ±1000000000000000.0, found 1e300"),
        ("index = 3\nto = 1", "4:9: expected a name, found the number 3"),
        ("index = 'n'\nto = 1", "4:9: the index `n` is already the name of a parameter or index (choose another name)"),
        ("index = 'sin'\nto = 1", "4:9: `sin` already has a meaning in arithmetic"),
        (
            "form = 1\nto = 1",
            "4:1: unknown key `form` in a repeat: expected a section of templates, found the number 1 (did you mean `from`?)",
        ),
        ("to = 1\nbody.a = 1", "5:10: expected a table as the template of `body.a`, found the number 1"),
        ("to = 1\nrun.a = {}", "5:1: `run` cannot be repeated"),
        ("to = 1\nrepeat.a = {}", "5:1: `repeat` cannot be repeated (write [[repeat.repeat]])"),
        (
            "to = 2\nbody.a = {}",
            "5:6: `body.a` is made more than once (put the index into the name, as in \"link{i}\")",
        ),
        ("to = 2\n[repeat.body.'b{i']", "5:16: a brace without its partner (write `{{` or `}}` for a brace itself)"),
        ("to = 2\n[repeat.body.'b}']", "5:16: a brace without its partner (write `{{` or `}}` for a brace itself)"),
        ("to = 2\n[repeat.body.'b{j}']", "5:17: unknown parameter `j` (parameters are defined under [parameters])"),
        ("to = 2\n[repeat.body.'b{}']", "5:17: expected a number, a name or `(`, found the end of the expression"),
        (
            "to = 2\n[repeat.body.'b{i}']\nx = '= 1/(i-2)'",
            "6:8: this quotient (a division by zero?) is not a finite number",
        ),
        ("to = 1\n[repeat.body.b]\n'a{i}' = 1\na1 = 2", "7:1: the key `a1` is made more than once"),
    ] {
        let found = repeat(text);
        assert!(found.starts_with(&format!("a.toml:{expected}")), "{text}\n{found}");
    }
    assert_eq!(lines("[repeat]\nto = 1\n"), "a.toml:1:1: repeats are an array of tables (write [[repeat]])");
    assert_eq!(lines("repeat = [3]\n"), "a.toml:1:11: expected a table, found the number 3 (write [[repeat]])");
}

#[test]
fn bad_settings() {
    let text = "[parameters]\nlength = 1\n[body.upper]\nkind = 'rigid'\nposition = [0, 0, 0]\n";
    for (setting, expected) in [
        ("bdy.upper.mass=2", "1:1: there is no section `bdy` (did you mean `body`?)"),
        ("body.uper.mass=2", "1:6: there is no `body.uper` (did you mean `upper`?)"),
        ("body.lower={}", "1:6: there is no `body.lower`"),
        ("parameters.lenght=2", "1:12: there is no `parameters.lenght` (did you mean `length`?)"),
        ("parameters.length=two", "1:19: the parameter `length` must be a finite number, found the text \"two\""),
        (
            "body.upper.position[3]=1",
            "1:20: there is no `body.upper.position[3]`: the array has 3 elements, counted from 0",
        ),
        ("body.upper.kind[0]=1", "1:16: there is no `body.upper.kind[0]`: `body.upper.kind` is not an array"),
        ("body.upper.kind.radius=1", "1:17: there is no `body.upper.kind.radius`: `body.upper.kind` is not a table"),
        ("body=1", "1:1: `body` is a section and cannot be set as a whole (name an entry in it)"),
        ("body.upper.mass", "1:1: there is no `=` and no value (write path=value, as in body.upper.mass=2)"),
        ("body..mass=1", "1:6: a name is missing in the path (write path=value"),
        ("=1", "1:1: a name is missing in the path (write path=value"),
        ("", "1:1: a name is missing in the path (write path=value"),
        ("body.upper.mass=", "1:17: the value is missing (write path=value"),
        ("body.upper.position[x]=1", "1:20: `x` is not the number of an array element"),
        ("body.upper.position[1=1", "1:20: the bracket is not closed"),
        ("body.\"upper.mass=1", "1:6: the quote is not closed"),
        ("body.upper.mass=[1, 2", "1:22: unclosed array"),
        ("body.upper.mass== 2*lenth", "1:21: unknown parameter `lenth` (did you mean `length`?)"),
        (
            "run.x=[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
            "1:69: nested deeper than 64 levels",
        ),
    ] {
        let found = set_lines(text, setting);
        assert!(found.starts_with(&format!("--set:{expected}")), "{setting}\n{found}");
    }
}

#[test]
fn settings_in_the_scene() {
    let help = "(write the whole path in quotes, as in \"body.upper.mass\" = 2)";
    assert_eq!(lines("set = 1\n"), format!("a.toml:1:7: `set` must be a table {help}"));
    assert_eq!(
        lines("[body.a]\nmass = 1\n[set]\nbody.a.mass = 2\n").lines().next(),
        Some(&*format!("a.toml:4:1: `body` is not the path of a value {help}"))
    );
    assert_eq!(lines("[set]\n'body.a' = 2\n"), "a.toml:2:1: there is no section `body`");
    assert_eq!(
        lines("[body.link1]\nmass = 1\n[set]\n'body.lnk1.mass' = 2\n'body.link1.x=3' = 1\n'body..mass' = 3\n"),
        format!(
            "a.toml:5:1: `body.link1.x=3` is not the path of a value {help}\n\
             a.toml:6:1: a name is missing in the path {help}"
        )
    );
    assert_eq!(
        lines("[body.link1]\nmass = 1\n[set]\n'body.lnk1.mass' = 2\n"),
        "a.toml:4:1: there is no `body.lnk1` (did you mean `link1`?)"
    );
    let deep = format!("[body.a]\nm = 1\n[set]\n'body.a{}' = 1\n", ".x".repeat(100));
    assert!(lines(&deep).starts_with("a.toml:4:1: nested deeper than"), "{}", lines(&deep));
}
