// Folded tables are opened for printing, and a list of labels filters the dialogues.
"use strict";
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});
const filter = document.getElementById("label-filter");
if (filter) {
  const chosen = filter.querySelector("select");
  filter.hidden = false;
  chosen.addEventListener("change", () => {
    for (const group of document.querySelectorAll(".group")) {
      const cards = [...group.querySelectorAll("article.dialogue")];
      for (const card of cards) card.hidden = Boolean(chosen.value) && !card.dataset.labels.split("|").includes(chosen.value);
      group.hidden = cards.every((card) => card.hidden);
    }
  });
}
