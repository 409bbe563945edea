for (const run of document.querySelectorAll(".run")) {
  const frames = [...run.querySelectorAll(".frame")], bar = run.querySelector(".slider");
  const input = bar.querySelector("input"), [back, next] = bar.querySelectorAll("button"), told = bar.querySelector("output");
  const last = frames.length - 1, drawn = {};
  for (const box of run.querySelectorAll(".domain[data-n]")) {
    if (!box.classList.contains("same")) { drawn[box.dataset.n] = box; continue; }
    const copy = drawn[box.dataset.n].cloneNode(true);
    copy.querySelectorAll(".chg").forEach(note => note.remove());
    copy.querySelectorAll(".changed").forEach(node => node.classList.remove("changed"));
    box.replaceWith(copy);
    drawn[box.dataset.n] = copy;
  }
  const show = wanted => {
    const at = Math.max(0, Math.min(last, wanted));
    frames.forEach((frame, index) => { frame.hidden = index !== at; });
    input.value = at;
    const text = `${at} of ${last}: ${frames[at].querySelector(".what").textContent.trim()}`;
    input.setAttribute("aria-valuetext", text);
    told.textContent = `${at} of ${last}`;
  };
  input.max = last;
  input.addEventListener("input", () => show(Number(input.value)));
  back.addEventListener("click", () => show(Number(input.value) - 1));
  next.addEventListener("click", () => show(Number(input.value) + 1));
  bar.hidden = false;
  run.classList.add("stepping");
  show(0);
}
