"""The application: all endpoints over some stores."""

try:
    from fastapi import FastAPI
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"the server needs FastAPI ({error}): pip install 'slidewheel[serve]'", name=error.name
    ) from None

from slidewheel import __version__
from slidewheel.serve import static
from slidewheel.serve.failing import handle_errors
from slidewheel.serve.guard import Guard
from slidewheel.serve.limits import Limits
from slidewheel.serve.metrics import Counted, Metrics
from slidewheel.serve.prometheus.routes import prometheus_routes
from slidewheel.serve.routes import own_routes, store_routes
from slidewheel.serve.stores import Stores
from slidewheel.serve.tokens import Token
from slidewheel.serve.workers import Workers


def make_app(
    stores: Stores, limits: Limits | None = None, token: Token | None = None, workers: Workers | None = None
) -> FastAPI:
    """An ASGI application, for uvicorn or any other server.

    Without a token it answers to requests for localhost only.
    """
    limits = limits or Limits()
    workers = workers or Workers(limits.threads, limits.waiting, limits.timeout)
    metrics = Metrics()
    # The interactive documentation is off, as it comes from elsewhere: all of this works without a network.
    app = FastAPI(title="slidewheel", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.include_router(store_routes(stores, limits, workers))
    app.include_router(own_routes(stores, metrics))
    app.include_router(prometheus_routes(stores, limits, workers))
    app.include_router(static.router)
    handle_errors(app, metrics)
    # The last one added is the first to see a request.
    app.add_middleware(Guard, token=token)
    app.add_middleware(Counted, metrics=metrics)
    return app
