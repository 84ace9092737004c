/**
 * The views: tabs, sections, addresses, titles and keys all come from this table, in this order. A new view is an entry
 * here, a module that fills its section, and what styles it needs.
 */

import { startCategories } from "./categories.js";
import { startCurve } from "./curve.js";
import { startExperts } from "./experts.js";
import { startHistory } from "./history.js";
import { startLearn } from "./learn.js";
import { startMap } from "./map/map.js";
import { startQuestion } from "./question.js";
import { startReview } from "./review/review.js";
import { startTable } from "./table/table.js";

/** @type {import("./page_types.js").View[]} */
export const VIEWS = [
  { name: "question", title: "Question", key: "q", start: startQuestion, icon: "M8 9a4 4 0 1 1 5.6 3.7c-1 .5-1.6 1.2-1.6 2.3v.6M12 19v.1" },
  { name: "review", title: "Review", key: "g", start: startReview, icon: "M4 4h7v7H4zM14 4h6v7h-6zM4 14h7v6H4zM13.500 17l2.200 2.500 4.800-5.500" },
  { name: "categories", title: "Categories", key: "c", start: startCategories, icon: "M4 5h6v6H4zM14 5h6v6h-6zM4 15h6v5H4zM14 15h6v5h-6z" },
  { name: "history", title: "History", key: "h", start: startHistory, icon: "M5 12a7 7 0 1 0 2.2-5.1L5 9M5 4.500V9h4.500M12 8v4.500l3 1.700" },
  { name: "map", title: "Map", key: "m", start: startMap, icon: "M6 7v.1M9 15v.1M12 9v.1M16 6v.1M18 12v.1M15 17v.1M6 19v.1M11 13v.1" },
  { name: "table", title: "Table", key: "j", start: startTable, icon: "M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14" },
  { name: "curve", title: "Curve", key: "v", start: startCurve, icon: "M4 4v16h16M7 16h3v-4h4V8h5" },
  { name: "learn", title: "Learn", key: "l", start: startLearn, icon: "M12 4 3 8.500 12 13l9-4.500zM6.500 11v5c3 2.500 8 2.500 11 0v-5" },
  {
    name: "experts", title: "Experts", key: "e", start: startExperts,
    icon: "M9 11a3.300 3.300 0 1 0 0-6.600 3.300 3.300 0 0 0 0 6.600zM3 20c0-4 2.500-6 6-6s6 2 6 6M16 5a3 3 0 0 1 0 6M18 14.500c2 .8 3 2.700 3 5.500",
  },
];
