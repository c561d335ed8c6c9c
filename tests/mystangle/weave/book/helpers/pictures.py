"""A picture as a cell of the little book draws it."""


class Dot:
    """A dot in the page's own colour."""

    def _repr_html_(self) -> str:
        return (
            '<svg role="img" aria-label="a dot" viewBox="0 0 40 40" width="40">'
            '<circle cx="20" cy="20" r="9" fill="currentColor"/></svg>'
        )
