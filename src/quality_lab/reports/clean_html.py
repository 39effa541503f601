"""HTML from anywhere, without anything in it that could run, load or cover the page."""

from __future__ import annotations

from quality_lab.answers import visible

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_TAGS = {
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "div",
        "section",
        "article",
        "blockquote",
        "pre",
        "hr",
        "br",
        "wbr",
    ),
    *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "img", "details", "summary"),
    *("a", "abbr", "b", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small"),
    *("span", "strong", "sub", "sup", "time", "u", "var"),
}
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"class", "id", "title", "style", "dir", "lang"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "details": {"open"},
    "ol": {"start"},
    "time": {"datetime"},
}
_STYLES = {
    *("color", "background-color", "opacity", "display", "white-space", "text-align", "vertical-align"),
    *("border", "border-top", "border-right", "border-bottom", "border-left", "border-collapse"),
    *("font-size", "font-style", "font-weight", "font-variant-numeric", "line-height", "text-decoration"),
    *("width", "min-width", "max-width", "height", "left", "top"),
    *("margin", "margin-top", "margin-left", "padding", "padding-left"),
}


SOURCES = tuple(f"data:{mime};base64," for mime in PICTURES)
_TARGETS = ("#", "http://", "https://", "mailto:")


def _only_harmless_addresses(element: str, attribute: str, value: str) -> str | None:
    starts = {"src": SOURCES, "href": _TARGETS}.get(attribute)
    return value if starts is None or value.lower().startswith(starts) else None


def clean(html: str) -> str:
    """Return *html* without anything that could run, load or cover the page."""
    import nh3

    return nh3.clean(
        visible(html, keep="\n\t\r"),
        tags=_TAGS,
        clean_content_tags={
            "script",
            "style",
            "template",
            "noscript",
            "iframe",
            "object",
            "title",
            "textarea",
        },
        attributes=_ATTRIBUTES,
        attribute_filter=_only_harmless_addresses,
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties=_STYLES,
        link_rel="noopener noreferrer",
    )
