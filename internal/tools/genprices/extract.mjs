// Prints the prices of Anthropic, OpenAI and Google out of an unpacked @pydantic/genai-prices package, one model a line:
// what internal/meter compares its own table with. Usage: node extract.mjs PACKAGE_FOLDER
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const { findProvider } = await import(pathToFileURL(`${folder}/dist/index.js`));

const exact = (match) => {
  if (match.equals !== undefined) return [match.equals];
  return (match.or ?? []).flatMap(exact);
};
const names = {
  input_mtok: "input", cache_read_mtok: "cached_input", cache_write_mtok: "cache_write_5m",
  cache_write_1h_mtok: "cache_write_1h", output_mtok: "output",
};
const rates = (prices) => {
  const base = {}, tiers = new Map();
  for (const [from, to] of Object.entries(names)) {
    const p = prices[from];
    if (p === undefined) continue;
    base[to] = typeof p === "number" ? p : p.base;
    for (const t of p.tiers ?? []) tiers.set(t.start, { ...(tiers.get(t.start) ?? { above: t.start }), [to]: t.price });
  }
  if (tiers.size > 0) base.tiers = [...tiers.values()];
  return base;
};

const rows = [];
for (const provider of ["anthropic", "openai", "google"]) {
  for (const m of findProvider({ providerId: provider }).models) {
    if (provider === "google" && !m.id.startsWith("gemini")) continue; // Claude on Vertex is not metered
    const list = Array.isArray(m.prices) ? m.prices : [{ prices: m.prices }];
    const prices = list.map((p) => ({ ...(p.constraint?.start_date ? { from: p.constraint.start_date } : {}), ...rates(p.prices) }));
    if (prices.some((p) => p.input === undefined || p.output === undefined)) continue;
    rows.push({ provider, id: m.id, exact: exact(m.match), prices });
  }
}
console.log(`{"package": "@pydantic/genai-prices", "version": ${JSON.stringify(version)}, "models": [`);
console.log(rows.map((r) => JSON.stringify(r)).join(",\n"));
console.log("]}");
