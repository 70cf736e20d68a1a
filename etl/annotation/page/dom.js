// Elements are made here and nowhere else; text is always text, never markup.

/** An element with attributes (on... are listeners; false, null and undefined are left out) and children. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value === 'boolean') element[name] = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts a screen in the page's place and moves the reader to its heading. */
function show(...children) {
  document.getElementById('page').replaceChildren(...children);
  window.scrollTo(0, 0);
  document.querySelector('h1').focus({ preventScroll: true });
}

function heading(text) {
  return h('h1', { tabindex: '-1' }, text);
}

function button(text, action, attributes = {}) {
  return h('button', { type: 'button', onclick: action, ...attributes }, text);
}

function download(name, type, text) {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
