// Shows the formulas of a page with KaTeX, which stands beside it.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".math")) {
    const text = place.textContent.trim();
    const formula = text.replace(/^\\[([]/, "").replace(/\\[)\]]$/, "");
    katex.render(formula, place, {displayMode: place.tagName === "DIV", throwOnError: false});
  }
});
