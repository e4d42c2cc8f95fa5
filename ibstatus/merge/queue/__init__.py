"""The merge queue of the board: what finished tasks hand over is merged, one after the other, beside every checkout.

`drain` and `watch` merge; `resolve` is what people and agents say of an entry; `owner` asks whether a branch is in it.
"""
