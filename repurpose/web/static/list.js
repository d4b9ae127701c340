// Times in the list as the reader's own clock shows them; without this they are in UTC.
import { when } from "./dom.js";

for (const each of document.querySelectorAll("time[datetime]")) {
  each.textContent = when(each.getAttribute("datetime")) || each.textContent;
}
