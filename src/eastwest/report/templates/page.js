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

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...shown().querySelectorAll("details:not([open])")];
    closed.forEach((part) => { part.open = true; });
    shown().querySelectorAll(".plot.drawn").forEach((plot) => Plotly.relayout(plot, { width: PRINT_WIDTH_PX }));
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((part) => { part.open = false; });
    drawn().forEach((plot) => Plotly.relayout(plot, { width: null, autosize: true }));
  });
  document.querySelectorAll(".switch input").forEach((input) => input.addEventListener("change", draw));
  window.addEventListener("hashchange", openTarget);
  draw();
  openTarget();
})();
