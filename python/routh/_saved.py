"""How results are written."""

import json
import os
from pathlib import Path

from ._options import count, library_words


class Written:
    """As JSON. Results never change, so that a copy is the result itself."""

    def to_json(self, indent=None):
        """The JSON that the command writes, but for the command itself; numbers are SI.

        indent -- spaces of each level (default: all in one line)

        >>> from routh import load
        >>> load("rocking-block").check().to_json()[:11]
        '{"schema":1'
        """
        return self._core.json(-1 if indent is None else count("indent", indent, 0, 100))

    def to_dict(self):
        """The same as a dictionary.

        >>> from routh import load
        >>> load("rocking-block").check().to_dict()["unique"]
        False
        """
        return json.loads(self.to_json())

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(f"a routh.{type(self).__name__} cannot be pickled; its arrays and to_dict() can, and so can its scenario")


class Saved(Written):
    """And as tables and figures."""

    def to_csv(self):
        """A table as text: one row an outcome, a state or a run, in SI units.

        >>> from routh import load
        >>> load("rocking-block").impact().to_csv()[:17]
        'outcome,law,order'
        """
        return self._core.csv()

    def draw(self, folder, name=None):
        """Figures as the command's --plot draws them, PNG, SVG, PDF and data for pgfplots, by gnuplot; returns
        their paths.

        >>> import tempfile
        >>> from routh import load
        >>> written = load("rocking-block").impact(law="simultaneous").draw(tempfile.mkdtemp())
        >>> any(path.endswith(".svg") for path in written)
        True
        """
        os.makedirs(folder, exist_ok=True)
        how = getattr(self, "law", None) or self.method
        with library_words():
            return self._core.draw(name or f"{Path(self.scenario.name).stem or 'scenario'}-{how}", os.fspath(folder))
