// Show what a search found: what kind of thing, where, and a few words around the match.
// Sphinx's own script finds; `searchtexts.js` has the texts, and no page is fetched.
(() => {
  "use strict";
  const TEXTS = "searchtexts.js";
  const BEFORE = 70; // characters of an excerpt before the match
  const LENGTH = 240;
  const MOST = 40; // results at once
  const TERMS = "sphinx_highlight_terms"; // what the next page marks, to Sphinx's script
  const SHORT = 3; // letters; of shorter words, parts of words are no match
  // What the index's tables of words inherit: all that Sphinx's script calls, and no word.
  const TABLE = Object.create(null, {
    hasOwnProperty: { value: Object.prototype.hasOwnProperty },
  });
  // What stands before the last part of a title: a number, folders, a dotted name's owner.
  const OWNER = /^(?:[\d.]+ |\S*\/|[\w.]+\.(?=\w+$))/;
  const ADVICE = [
    "Words, in the text and in the code: finite gradient",
    "A name of the program, whole or in part: topological_order, ShapeError",
    "The name of a chunk: Make a leaf from a number",
    'Words that stand side by side, in quotes: "every path"',
  ];

  const make = (tag, className, ...content) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...content);
    return element;
  };

  // Load the texts once; without them the results have no excerpts.
  const texts = () =>
    (texts.loading ??= new Promise((done) => {
      const script = make("script");
      script.onload = script.onerror = done;
      script.src = TEXTS;
      document.body.append(script);
    }));

  const page = (name) => Search.texts?.[name] ?? [];

  // What a result leads to: the part with its anchor and all parts below it.
  const within = ({ docname, anchor }) => {
    const all = page(docname);
    if (!anchor) return all;
    const first = all.findIndex(([id]) => `#${id}` === anchor);
    if (first < 0) return [];
    const depth = all[first][3];
    const past = all.findIndex((part, i) => i > first && part[3] <= depth);
    return all.slice(first, past < 0 ? all.length : past);
  };

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const plain = (html) =>
    new DOMParser().parseFromString(html, "text/html").body.textContent;

  // The words of a query, as Sphinx understands them, or those in quotes together.
  // Sphinx knows no signs: a query of these is taken as it is.
  const parsed = (query) => {
    const quoted = [...query.matchAll(/"([^"]+)"/g)].map((found) =>
      found[1].trim().toLowerCase().replace(/\s+/g, " "),
    );
    const bare = query.replaceAll('"', " ").trim() || query.trim();
    const terms = Search._parseQuery(bare);
    // Sphinx would have any next page mark them, whether a result was followed or not.
    const marks = localStorage.getItem(TERMS) ?? "";
    localStorage.removeItem(TERMS);
    const [, stems, , words, names] = terms;
    const signs = names.size ? [] : bare.toLowerCase().split(/\s+/);
    const single = words.size ? [...words] : [...names, ...signs];
    const sought = (quoted.length ? quoted : single).filter(Boolean);
    const forms = quoted.length ? sought : [...sought, ...stems];
    forms.sort((a, b) => b.length - a.length);
    const match = forms.length ? new RegExp(forms.map(escaped).join("|"), "giu") : null;
    const whole = [...names].filter(
      (name) =>
        (name.length < SHORT || stopwords.includes(name)) &&
        (names.size === 1 || words.has(name)),
    );
    return { bare, terms, marks, quoted, sought, match, whole, unknown: !words.size };
  };

  const result = ([docname, title, anchor, descr]) => {
    const hit = { docname, anchor, title: plain(title), kind: "", where: "" };
    const [part] = within(hit);
    const whole = page(docname)[0];
    if (descr) {
      hit.kind = plain(descr).split(", in ")[0];
    } else if (part) {
      [, hit.kind, hit.title] = part;
    }
    if (part && part === whole) hit.kind = "Page";
    else hit.where = whole?.[2] ?? "";
    return hit;
  };

  const fits = (hit, { quoted, whole }) => {
    const said = [hit.title, ...within(hit).map((part) => `${part[2]} ${part[4]}`)];
    const text = said.join(" ").toLowerCase();
    const names = hit.title.toLowerCase().split(/[^\p{L}\p{N}_]+/u);
    return (
      hit.title.trim() &&
      quoted.every((words) => text.includes(words)) &&
      (hit.kind === "Page" || whole.every((word) => names.includes(word)))
    );
  };

  // Whether a match stands alone: a word not in a longer one, a sign not in a row of it.
  const isWhole = (text, start, end) => {
    const inside = (place) => {
      const [one, next] = [text[place - 1] ?? " ", text[place] ?? " "];
      return one === next || /^[\p{L}\p{N}_]{2}$/u.test(one + next);
    };
    return !inside(start) && !inside(end);
  };

  // How much of a query a text has: a whole word counts twice, a part of one once.
  const points = (text, { sought }) => {
    const lower = text.toLowerCase();
    const point = (word) => {
      const all = [...lower.matchAll(new RegExp(escaped(word), "gu"))];
      const whole = ({ index }) => isWhole(lower, index, index + word.length);
      return all.some(whole) ? 2 : all.length && 1;
    };
    return sought.reduce((sum, word) => sum + point(word), 0);
  };

  // Sphinx drops numbers, signs and the commonest words: look for these in the texts.
  const scanned = (query) => {
    const all = 2 * query.sought.length;
    const has = (part) => points(`${part[2]} ${part[4]}`, query) === all;
    return Object.entries(Search.texts ?? {})
      .filter(([, parts]) => parts.some(has))
      .map(([docname, parts]) => [docname, parts[0][2], "", null]);
  };

  // How a title answers a query: 2 if it is the query, 1 if it begins with its words.
  // It may do so without its owner: `value.py` is the last part of a file's name.
  const rank = (title, { bare }) => {
    const [wanted, whole] = [bare, title].map((text) => text.toLowerCase());
    const titles = [whole, whole.replace(OWNER, "")];
    if (titles.includes(wanted)) return 2;
    const begins = (one) => one.startsWith(wanted) && isWhole(one, 0, wanted.length);
    return titles.some(begins) ? 1 : 0;
  };

  // Sphinx knows no exercises, statements and terms: look in all titles, first of pages.
  const titled = (query) => {
    const rows = Object.entries(Search.texts ?? {}).flatMap(([docname, parts]) =>
      parts
        .filter(([, , title]) => rank(title, query))
        .map((part) => [docname, "", part === parts[0] ? "" : `#${part[0]}`, null]),
    );
    return rows.sort(([, , a], [, , b]) => !b - !a);
  };

  const found = (query) => {
    const seen = new Set();
    const rows = [...Search._performSearch(...query.terms).reverse(), ...titled(query)];
    if (query.unknown) rows.push(...scanned(query));
    const hits = rows.map(result);
    const kept = hits.filter((hit) => {
      const key = [hit.docname, hit.anchor, hit.title].join("\n");
      return !seen.has(key) && seen.add(key) && fits(hit, query);
    });
    return kept.sort((a, b) => rank(b.title, query) - rank(a.title, query));
  };

  // Of several parts, the first that fits best, with its text before its title.
  const best = (parts, query) => {
    const worth = parts.map((part) => 2 * points(part[4], query) + points(part[2], query));
    return parts[worth.indexOf(Math.max(...worth))];
  };

  const marked = (text, match) => {
    if (!match) return [text];
    const nodes = [];
    let past = 0;
    for (const one of text.matchAll(match)) {
      nodes.push(text.slice(past, one.index), make("mark", "", one[0]));
      past = one.index + one[0].length;
    }
    return [...nodes, text.slice(past)];
  };

  // The match to show: one with most of the words behind it, best a word of its own.
  const central = (text, match) => {
    const all = [...text.matchAll(match)];
    const near = ({ index }) => {
      const [line] = text.slice(index).split("\n", 1);
      const end = index + Math.min(line.length, LENGTH - 2 * BEFORE);
      return all.filter((one) => one.index >= index && one.index < end);
    };
    const points = all.map((one) => {
      const words = new Set(near(one).map(([word]) => word.toLowerCase()));
      return 2 * words.size + isWhole(text, one.index, one.index + one[0].length);
    });
    return all[points.indexOf(Math.max(...points))];
  };

  // The line of code around a place in a text; nothing if prose is there.
  const lineOfCode = (text, place) => {
    const start = text.lastIndexOf("\n", place) + 1;
    const line = text.slice(start).split("\n", 1)[0];
    return line.startsWith("\t") ? line.trim() : "";
  };

  // A chunk that was found by its name is shown as it begins.
  const excerpt = ([, kind, title, , text], query) => {
    const all = 2 * query.sought.length;
    const [inTitle, inText] = [title, text].map((said) => points(said, query) === all);
    const named = kind === "Chunk" && inTitle && !inText;
    const one = !named && query.match && central(text, query.match);
    const code = lineOfCode(text, one ? one.index : 0);
    if (code) return make("p", "context code", ...marked(code, query.match));
    const prose = text.replace(/(?:\n?\t[^\n]*)+\n?/g, " … ").trim();
    return make("p", "context", ...cut(prose, query.match));
  };

  const cut = (text, match) => {
    const one = match && central(text, match);
    const near = Math.max(0, (one?.index ?? 0) - BEFORE);
    const start = near && text.indexOf(" ", near) + 1;
    let end = start + LENGTH;
    end = end < text.length ? text.lastIndexOf(" ", end) : text.length;
    const shown = text.slice(start, Math.max(end, start + 1));
    return [start ? "… " : "", ...marked(shown, match), end < text.length ? " …" : ""];
  };

  const link = (docname, anchor, ...text) => {
    const root = document.documentElement.dataset.content_root ?? "";
    const element = make("a", "", ...text);
    element.href = root + docname + DOCUMENTATION_OPTIONS.LINK_SUFFIX + anchor;
    return element;
  };

  const item = (hit, query) => {
    const parts = within(hit);
    const part = parts.length ? best(parts, query) : null;
    const inner = part && part !== parts[0] ? `#${part[0]}` : "";
    // A page is long: its title leads to the part that fits best.
    const anchor = hit.kind === "Page" ? inner : hit.anchor;
    const line = make("div", "search-hit", link(hit.docname, anchor, hit.title));
    if (hit.kind) line.append(make("span", "search-kind", hit.kind));
    const entry = make("li", "", line);
    const where = [];
    if (hit.where) where.push(link(hit.docname, "", hit.where));
    if (inner) where.push(link(hit.docname, inner, ...marked(part[2], query.match)));
    if (where.length) {
      entry.append(make("div", "search-where", ...where.flatMap((a, i) => (i ? [" › ", a] : [a]))));
    }
    if (part?.[4]) entry.append(excerpt(part, query));
    return entry;
  };

  const advise = (place) =>
    place.append(
      make("p", "", "What can be looked for:"),
      make("ul", "search-advice", ...ADVICE.map((line) => make("li", "", line))),
    );

  const show = (hits, query) => {
    const more = hits.splice(MOST);
    Search.output.onclick = Search.output.onauxclick = ({ target, button }) => {
      if (button < 2 && target.closest("a")) localStorage.setItem(TERMS, query.marks);
    };
    Search.output.append(...hits.map((hit) => item(hit, query)));
    if (!more.length) return;
    const button = make("button", "search-more", `Show the other ${more.length}`);
    button.type = "button";
    button.onclick = () => {
      const first = item(more[0], query);
      Search.output.append(first, ...more.slice(1).map((hit) => item(hit, query)));
      button.remove();
      first.querySelector("a").focus();
    };
    Search.output.after(button);
  };

  Search.query = async (text) => {
    await texts();
    for (const name of ["terms", "titleterms"]) {
      Object.setPrototypeOf(Search._index[name], TABLE);
    }
    const query = parsed(text);
    const hits = query.bare ? found(query) : [];
    _finishSearch(hits.length);
    const pages = new Set(hits.map((hit) => hit.docname)).size;
    Search.status.textContent = hits.length
      ? `${hits.length} found on ${pages} ${pages === 1 ? "page" : "pages"}`
      : `Nothing found for “${query.bare}”.`;
    show(hits, query);
    if (!hits.length) advise(Search.output.parentElement);
  };

  const asked = new URLSearchParams(window.location.search).get("q");
  if (!asked) advise(document.getElementById("search-results"));
})();
