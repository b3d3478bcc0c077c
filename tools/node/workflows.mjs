// Checks workflows and evaluates conditions with GitHub's own code, many in one process.
// stdin:  {"lint": [{"name", "content"}], "actions": [{"name", "content"}], "eval": [{"expr", "contexts", "status"}]}
// stdout: {"lint": {NAME: [PROBLEM]}, "actions": {NAME: [PROBLEM]}, "eval": [VALUE or {"error"}]}
import {readFileSync} from "node:fs";
import {data, Evaluator, Lexer, Parser} from "@actions/expressions";
import {NoOperationTraceWriter, parseWorkflow, convertWorkflowTemplate} from "@actions/workflow-parser";
import {parseAction} from "@actions/workflow-parser/actions/action-parser";
import {validate} from "@actions/languageservice";
import {TextDocument} from "vscode-languageserver-textdocument";

const contexts = ["github", "needs", "vars", "inputs", "steps", "secrets", "runner", "env", "job", "strategy", "matrix"];
const statusFunctions = ["success", "failure", "cancelled", "always"];

async function lint({name, content}) {
  const result = parseWorkflow({name, content}, new NoOperationTraceWriter());
  const problems = result.context.errors.getErrors().map(e => `parser: ${e.message}`);
  if (result.value) {
    const template = await convertWorkflowTemplate(result.context, result.value, undefined, {errorPolicy: 1});
    for (const e of template.errors ?? []) problems.push(`parser: ${e.Message ?? e.message}`);
  }
  return problems.concat(await service(`file:///repo/.github/workflows/${name}`, content));
}

async function lintAction({name, content}) {
  const result = parseAction({name, content}, new NoOperationTraceWriter());
  const problems = result.context.errors.getErrors().map(e => `parser: ${e.message}`);
  return problems.concat(await service(`file:///repo/${name}`, content));
}

async function service(uri, content) {
  const found = await validate(TextDocument.create(uri, "yaml", 1, content), {});
  return found.map(d => `language service, line ${d.range.start.line + 1}: ${d.message}`);
}

function dictionary(value) {
  if (value === null || value === undefined) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (Array.isArray(value)) {
    const out = new data.Array();
    for (const v of value) out.add(dictionary(v));
    return out;
  }
  const out = new data.Dictionary();
  for (const [key, v] of Object.entries(value)) out.add(key, dictionary(v));
  return out;
}

function evaluate({expr, contexts: values, status}) {
  const functions = statusFunctions.map(name => ({
    name, minArgs: 0, maxArgs: 0,
    call: () => new data.BooleanData(name === "always" || status === name),
  }));
  const lexed = new Lexer(expr).lex();
  const tree = new Parser(lexed.tokens, contexts, functions).parse();
  const context = new data.Dictionary();
  for (const name of contexts) context.add(name, dictionary(values[name] ?? {}));
  const result = new Evaluator(tree, context, new Map(functions.map(f => [f.name, f]))).evaluate();
  // As the runner does with `if:`: everything but false, 0, "", null and NaN is true.
  const raw = result.kind === data.Kind.Null ? null : result.value ?? true;
  return Boolean(raw);
}

const request = JSON.parse(readFileSync(0, "utf8"));
const answer = {lint: {}, actions: {}, eval: []};
for (const f of request.lint ?? []) answer.lint[f.name] = await lint(f);
for (const f of request.actions ?? []) answer.actions[f.name] = await lintAction(f);
for (const e of request.eval ?? []) {
  try {
    answer.eval.push(evaluate(e));
  } catch (error) {
    answer.eval.push({error: String(error.message ?? error)});
  }
}
process.stdout.write(JSON.stringify(answer));
