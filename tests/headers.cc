// Nothing: the headers of the tests are precompiled with it.
