//! Colours and lines, once for all pictures and the page.
//!
//! The curves use the hues of Okabe and Ito, which people with any kind of colour vision tell apart, darkened on
//! white and lightened on black for contrast. Each colour also has its own dash pattern, so the curves stay apart on
//! black and white paper.
//!
//! Reference: M. Okabe, K. Ito, "Color Universal Design", 2008.

/// Number of curves that can be told apart.
pub const CURVES: usize = 6;

/// Names, light and dark values of all colours.
const COLOURS: [(&str, &str, &str); 16] = [
    ("page", "#f5f6f8", "#0e1116"),
    ("surface", "#ffffff", "#171b21"),
    ("ink", "#1a1f26", "#e7eaee"),
    ("muted", "#59636f", "#9ba6b2"),
    ("grid", "#e6e9ed", "#2a3038"),
    ("frame", "#c4cad2", "#424b56"),
    ("event", "#7b8591", "#8b95a1"),
    ("good", "#0b6e4f", "#4cc796"),
    ("warn", "#8a5a00", "#e9b44c"),
    ("bad", "#b3261e", "#ff8a80"),
    ("c0", "#0072b2", "#56b4e9"),
    ("c1", "#d55e00", "#ff9150"),
    ("c2", "#00875f", "#2fcf9f"),
    ("c3", "#a8478f", "#e59cc9"),
    ("c4", "#8f6a00", "#e8c547"),
    ("c5", "#4b4f58", "#c9ced6"),
];

/// The rules for everything inside a picture, with colours by name.
const RULES: &str = "\
svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;\
font-size:11px;fill:var(--muted)}\
svg text.title{font-size:13px;font-weight:600;fill:var(--ink)}\
svg text.key{fill:var(--ink)}\
svg text.mark{font-size:10px;fill:var(--muted)}\
svg .surface{fill:var(--surface)}\
svg .grid{stroke:var(--grid);stroke-width:1;fill:none}\
svg .axis{stroke:var(--frame);stroke-width:1;fill:none}\
svg .event{stroke:var(--event);stroke-width:1;stroke-dasharray:1 3;fill:none}\
svg .bar{stroke:var(--ink);stroke-width:1.5;fill:none}\
svg .curve{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:butt}\
svg .shape{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}\
svg .hatch{stroke:var(--muted);stroke-width:1;fill:none}\
svg .wire{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}\
svg .trail{fill:none;stroke-width:1;stroke-opacity:.55;stroke-linejoin:round}\
svg .c0{stroke:var(--c0)}svg .c1{stroke:var(--c1)}svg .c2{stroke:var(--c2)}\
svg .c3{stroke:var(--c3)}svg .c4{stroke:var(--c4)}svg .c5{stroke:var(--c5)}\
svg .f0{fill:var(--c0)}svg .f1{fill:var(--c1)}svg .f2{fill:var(--c2)}\
svg .f3{fill:var(--c3)}svg .f4{fill:var(--c4)}svg .f5{fill:var(--c5)}\
svg .curve.c1{stroke-dasharray:7 3}svg .curve.c2{stroke-dasharray:2.5 2;stroke-width:1.9}svg .curve.c3{stroke-dasharray:9 3 2 3}\
svg .curve.c4{stroke-dasharray:13 4}svg .curve.c5{stroke-dasharray:9 3 2 3 2 3}";

/// The style sheet inside a picture file. Colours stand as literals, since few drawing programs know variables.
pub fn file_style() -> String {
    let with = |dark: bool| {
        COLOURS.iter().fold(RULES.to_owned(), |rules, (name, light_value, dark_value)| {
            let value = if dark { dark_value } else { light_value };
            rules.replace(&format!("var(--{name})"), value)
        })
    };
    format!("{}@media(prefers-color-scheme:dark){{{}}}", with(false), with(true))
}

/// The part of the page's style sheet that defines the colours and the pictures; paper is always light.
pub fn page_style() -> String {
    let list = |dark: bool| -> String {
        let value = |(name, light_value, dark_value): &(&str, &str, &str)| {
            format!("--{name}:{};", if dark { dark_value } else { light_value })
        };
        COLOURS.iter().map(value).collect()
    };
    let (light, dark) = (list(false), list(true));
    // The reader's choice in the page comes before that of the system.
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n\
         @media screen{{:root[data-theme=light]{{color-scheme:light;{light}}}:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n\
         {RULES}\n"
    )
}
