// Light or dark: what the switch says and is remembered (theme.js reads it), else what the system prefers.

const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

export function watchTheme(button, onChange) {
  function changed() {
    button.ariaPressed = String(isDark());
    onChange();
  }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("slidewheel-theme", root.dataset.theme);
    } catch {
      // Without storage it holds for this page.
    }
    changed();
  });
  system.addEventListener("change", changed);
  changed();
}
