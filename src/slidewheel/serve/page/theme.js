// Before anything is painted: the theme that was chosen last, if any; else the system's.
try {
  const chosen = localStorage.getItem("slidewheel-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // No storage here: the system's theme.
}
