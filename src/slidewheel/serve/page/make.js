// Elements. Text goes in as text, never as markup: much of it comes from data.

export const $ = (id) => document.getElementById(id);

export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export function swatch({ colour, dashed }) {
  const line = make("span", { className: dashed ? "swatch dashed" : "swatch", ariaHidden: "true" });
  line.style.borderTopColor = `var(${colour})`;
  return line;
}
