// The source of a run, in one of three ways: pasted, as a file, or by address.
import { upload } from "./api.js";
import { byId, counted, webAddress } from "./dom.js";
import { Fault } from "./faults.js";

const MOST_BYTES = 20_000_000;
const MOST_TEXT = 5_000_000;

/** @param {HTMLFormElement} form */
export function intake(form) {
  const file = byId("file");
  const text = byId("text");
  /** What the server calls the file that was sent. @type {{file: File, id: string} | null} */
  let sent = null;

  const way = () => form.elements.namedItem("way").value;

  function showWay() {
    for (const each of form.querySelectorAll("[data-way]")) each.hidden = each.dataset.way !== way();
  }

  /** @param {"text" | "file" | "url"} to */
  function choose(to) {
    form.querySelector(`input[name="way"][value="${to}"]`).checked = true;
    showWay();
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function showSize() {
    const words = text.value.trim() ? text.value.trim().split(/\s+/).length : 0;
    byId("text-size").textContent = words
      ? counted(words, "word")
      : "An article, a talk, a report: from about 200 words.";
  }

  for (const each of form.querySelectorAll('input[name="way"]')) {
    each.addEventListener("change", showWay);
  }
  text.addEventListener("input", showSize);
  // A browser may fill in what was there before.
  showWay();
  showSize();
  droppable((dropped) => {
    choose("file");
    file.files = dropped;
    file.dispatchEvent(new Event("change"));
    file.focus();
  });

  const ways = {
    async text() {
      const value = text.value;
      if (!value.trim()) throw new Fault("text", "Paste a text first.");
      if (new Blob([value]).size > MOST_TEXT) throw new Fault("text", "The text is larger than 5 MB; give it as a file.");
      const title = byId("title").value.trim();
      return title ? { text: value, title } : { text: value };
    },
    async file() {
      const chosen = file.files[0];
      if (!chosen) throw new Fault("file", "Choose a file first.");
      if (chosen.size > MOST_BYTES) throw new Fault("file", "The file is larger than 20 MB.");
      if (!chosen.size) throw new Fault("file", "The file is empty.");
      if (sent?.file !== chosen) sent = { file: chosen, id: (await upload(chosen)).upload };
      return { upload: sent.id };
    },
    async url() {
      const value = byId("url").value.trim();
      const address = webAddress(value) || (value.includes(".") && webAddress(`https://${value}`));
      if (!address) throw new Fault("url", "Give an address that begins with https:// or http://.");
      return { url: address };
    },
  };

  return {
    way,
    /** What to send for the source. */
    given: () => ways[way()](),
    /** Forget what was sent, so that it is sent again; false where nothing was. */
    forget() {
      const had = sent !== null;
      sent = null;
      return had;
    },
  };
}

/** @param {(files: FileList) => void} dropped */
function droppable(dropped) {
  const sign = byId("dropping");
  let depth = 0;
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  const show = (change) => {
    depth = change ? Math.max(0, depth + change) : 0;
    sign.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => carries(event) && show(1));
  addEventListener("dragleave", (event) => carries(event) && show(-1));
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    show(0);
    if (event.dataTransfer.files.length) dropped(event.dataTransfer.files);
  });
}
