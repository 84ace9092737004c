"""Model files: saving fitted estimators and loading them, without pickle."""

from kernova.persist.models import load_model, save_model

__all__ = ["load_model", "save_model"]
