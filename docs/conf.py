"""The documentation site. tools/site copies docs/ beside what it generates and runs Sphinx on it."""

project = "Routh"
copyright = "The Routh authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = []
html_theme = "furo"
html_title = "Routh"
html_static_path = ["site"]
html_css_files = ["routh.css", "katex/katex.min.css"]
# mathematics by KaTeX from the site's own files: it works without network
html_js_files = ["katex/katex.min.js"]
mathjax_path = "mathematics.js"
html_theme_options = {"light_css_variables": {"color-brand-primary": "#1f5fbf", "color-brand-content": "#1f5fbf"}}
html_show_sourcelink = False
html_copy_source = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
highlight_language = "none"
suppress_warnings = ["myst.header"]


def arguments_as_list(app, what, name, obj, options, lines):
    """`name -- what it is` of a docstring becomes an entry of a list, with the lines that go on below it."""
    import re
    written, inside = [], False
    for line in lines:
        found = re.match(r"(\w[\w, \[\]/^().]*?) -- (.*)", line)
        if found:
            written += ([] if inside else [""]) + [f"* **{found[1]}**: {found[2]}"]
            inside = True
        elif inside and line.startswith("    ") and not line.lstrip().startswith(">>>"):
            written.append("  " + line.strip())
        else:
            written += [""] if inside and line else []
            written.append(line)
            inside = False
    lines[:] = written


def setup(app):
    app.connect("autodoc-process-docstring", arguments_as_list)
