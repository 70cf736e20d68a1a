// Search over the example dialogues, and folded tables opened for printing. Without it the page shows everything.
"use strict";
const search = document.querySelector(".search");
if (search) {
  const field = search.querySelector("input"), said = search.querySelector("output");
  const cards = [...search.parentElement.querySelectorAll(".dialogue")];
  const texts = cards.map((card) => card.textContent.toLowerCase());
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    cards.forEach((card, place) => {
      card.hidden = !words.every((word) => texts[place].includes(word));
      found += card.hidden ? 0 : 1;
    });
    for (const group of search.parentElement.querySelectorAll(".group")) {
      group.hidden = !group.querySelector(".dialogue:not([hidden])");
    }
    said.textContent = words.length ? `${found} of ${cards.length} dialogues` : `${cards.length} dialogues`;
  };
  search.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", show);
  // A link back from the sentences leads to a dialogue that the search may hide.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.hidden) {
      field.value = "";
      show();
      target.scrollIntoView();
    }
  });
  search.hidden = false;
  show();
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});
