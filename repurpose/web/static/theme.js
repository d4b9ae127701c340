// Light, dark, or what the system says. Loaded in the head, before the first paint; a module would
// come too late and the page would flash.
"use strict";
(() => {
  const order = ["system", "light", "dark"];
  const root = document.documentElement;

  /** The stored choice; storage may be forbidden, and then it is the system's. */
  const stored = () => {
    try {
      const found = localStorage.getItem("theme");
      return order.includes(found) ? found : "system";
    } catch {
      return "system";
    }
  };

  const apply = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };

  apply(stored());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    let theme = stored();
    const show = () => {
      button.querySelector("[data-theme-name]").textContent = theme;
      button.hidden = false;
    };
    show();
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Kept for this page only.
      }
      apply(theme);
      show();
    });
  });
})();
