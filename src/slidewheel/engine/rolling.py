def rolling(*a, **k): raise NotImplementedError
