"""How results are written."""

import json
import os
from pathlib import Path

from ._options import count, library_words


class Written:
    """As JSON. Results never change, so that a copy is the result itself."""

    def to_json(self, indent=None):
        """The JSON that the command writes, but for the command itself."""
        return self._core.json(-1 if indent is None else count("indent", indent, 0, 100))

    def to_dict(self):
        """The same as a dictionary."""
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
        """A table as text: one row an outcome, a state or a run."""
        return self._core.csv()

    def draw(self, folder, name=None):
        """Figures as the command's --plot draws them, PNG, SVG, PDF and data for pgfplots, by gnuplot; returns
        their paths."""
        os.makedirs(folder, exist_ok=True)
        how = getattr(self, "law", None) or self.method
        with library_words():
            return self._core.draw(name or f"{Path(self.scenario.name).stem or 'scenario'}-{how}", os.fspath(folder))
