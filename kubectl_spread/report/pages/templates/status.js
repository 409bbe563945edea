const text = document.getElementById("filter"), troubled = document.getElementById("troubled");
if (text) {
  const items = [...document.querySelectorAll("[data-name]")];
  const show = () => {
    const wanted = text.value.trim().toLowerCase();
    for (const item of items) {
      const isFine = ["good", "soft"].includes(item.dataset.tone);
      item.hidden = !item.dataset.name.toLowerCase().includes(wanted) || (troubled.checked && isFine);
    }
  };
  text.closest(".filter").hidden = false;
  text.addEventListener("input", show);
  troubled.addEventListener("input", show);
}
