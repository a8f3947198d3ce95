"""From result files to pages: `build` makes docs/benchmarks, `page.Page` is what each file in `pages` writes on."""
