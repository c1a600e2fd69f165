"use strict";
(function () {
  const PRINT_WIDTH_PX = 680;
  const options = { responsive: true, displaylogo: false, displayModeBar: false };
  const shown = () => document.querySelector("main." + document.querySelector(".switch input:checked").value);
  const drawn = () => document.querySelectorAll(".plot.drawn");

  function draw() {
    const main = shown();
    document.documentElement.lang = main.lang;
    document.title = main.dataset.title;
    main.querySelectorAll(".plot:not(.drawn)").forEach((plot) => {
      const figure = JSON.parse(plot.querySelector("script").textContent);
      Plotly.newPlot(plot, figure.data, figure.layout, options);
      plot.classList.add("drawn");
    });
    main.querySelectorAll(".plot.drawn").forEach((plot) => Plotly.Plots.resize(plot));
  }

  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  }

  // Paper is narrower than the window. A figure is scaled, not drawn anew: a Sankey drawn anew is still moving when it is printed.
  function scale(plot, factor) {
    const container = plot.querySelector(".svg-container");
    container.style.zoom = factor === 1 ? "" : factor;
    plot.style.height = container.offsetHeight * factor + "px";
  }

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...shown().querySelectorAll("details:not([open])")];
    closed.forEach((part) => { part.open = true; });
    drawn().forEach((plot) => scale(plot, Math.min(1, PRINT_WIDTH_PX / plot.querySelector(".main-svg").clientWidth)));
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((part) => { part.open = false; });
    drawn().forEach((plot) => scale(plot, 1));
  });
  document.querySelectorAll(".switch input").forEach((input) => input.addEventListener("change", draw));
  window.addEventListener("hashchange", openTarget);
  draw();
  openTarget();
})();
