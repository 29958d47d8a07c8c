//! The page of the studio.

use dalembert::report::theme;

/// The page; its script comes from beside it.
pub fn page() -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>dalembert studio</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n\
         <div id=\"studio\"><noscript>The studio needs JavaScript.</noscript></div>\n<script src=\"viewer.js\"></script>\n\
         </body>\n</html>\n",
        theme::page_style()
    )
}
