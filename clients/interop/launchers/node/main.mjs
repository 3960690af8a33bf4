// Prints a row for each launcher and application in JavaScript: see ../main.go.
import { readFileSync } from "node:fs";
import * as applications from "./applications.mjs";
import * as launchers from "./launchers.mjs";

const server = process.argv[2];

function version(name) {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
}

async function row(kind, name, { detail, work }) {
  const about = { kind, name, version: version(name) };
  try {
    await work(server);
    return { ...about, ok: true, detail };
  } catch (error) {
    console.error(error);
    return { ...about, ok: false, detail: String(error).split("\n")[0] };
  }
}

for (const [kind, rows] of [
  ["launcher", launchers.rows],
  ["application", applications.rows],
]) {
  for (const [name, it] of Object.entries(rows)) console.log(JSON.stringify(await row(kind, name, it)));
}
