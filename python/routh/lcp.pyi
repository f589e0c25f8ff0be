from typing import Iterator, List, NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

class LemkeResult(NamedTuple):
    status: str
    z: Floats
    residual: float
    pivots: int

class Solution(NamedTuple):
    z: Floats
    residual: float

class Continuum(NamedTuple):
    corners: List[int]
    rays: Floats

class Solutions:
    all: List[Solution]
    continua: List[Continuum]
    incomplete: bool
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Solution]: ...
    def __getitem__(self, k: int) -> Solution: ...

def lemke(W: ArrayLike, w: ArrayLike, *, tolerance: float = ..., max_pivots: int = ...,
          cover: Optional[ArrayLike] = ...) -> LemkeResult: ...
def enumerate(W: ArrayLike, w: ArrayLike, *, tolerance: float = ..., same: float = ..., max_size: int = ...) -> Solutions: ...
def residual(W: ArrayLike, w: ArrayLike, z: ArrayLike) -> float: ...
