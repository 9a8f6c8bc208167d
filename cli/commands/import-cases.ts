import { join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { CaseNames } from '../../authoring/cases/add-case.ts'
import { CASES_FILE, type TestCase } from '../../authoring/cases/case-file.ts'
import {
  casesOfEvals,
  type FieldPaths,
  fieldsOf,
  type ImportedCase,
} from '../../authoring/cases/import-evals.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import type { ReceivedLine } from '../../lib/core/batch.ts'
import { hashJson } from '../../lib/core/json/hash-json.ts'
import { MAX_VIOLATIONS } from '../../lib/core/limits.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { truncate } from '../../lib/schema/message-text.ts'
import { badLines, parseTextLine, readTextLines } from '../batches/read-inputs.ts'
import { CasesFile } from '../cases/cases-file.ts'
import type { CliCommand, Result } from '../command.ts'
import { folderError, UserError } from '../errors.ts'
import { formatCommand, shellQuote, toSingleLine } from '../format.ts'
import { withProgress } from '../terminal.ts'

type Options = { folder: string; input: FieldPaths; expect: FieldPaths | false }

export function addImportCommand(cases: CliCommand): void {
  cases
    .command('import')
    .description('Add lines of a dataset for OpenAI Evals: {"item": {…}}, or {"input": …, "ideal": …}.')
    .argument('<file>', 'JSONL, or - for standard input')
    .requiredOption('--folder <path>', 'folder of the agent')
    .option('--input <field=path>', 'where an input field is; default: what has its name', parsePath, {})
    .option('--expect <field=path>', 'the same for fields of the expected output', parsePath, {})
    .option('--no-expect', 'import inputs only')
    .examples('cases import evals.jsonl --folder agents/ask --expect answer=item.ideal')
    .run<Options>((options, [file = '']) => withProgress(`Importing ${file}`, importCases(file, options)))
}

function parsePath(text: string, paths: FieldPaths): FieldPaths {
  const [, field, path] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (field !== undefined && path !== undefined) return { ...paths, [field]: path }
  throw new InvalidArgumentError('It must be a field and a path, such as question=item.question.')
}

/** @throws UserError if a line cannot be a case; then none is added */
async function importCases(file: string, { folder, ...options }: Options): Promise<Result> {
  const { agent, problems } = await loadFolder(folder)
  if (!agent) throw folderError('Adding cases', problems)
  const { input, output } = agent.document
  const schemas = { input: toJsonSchema(input), output: toJsonSchema(output) }
  for (const name of ['input', 'expect'] as const) {
    const fields = fieldsOf(schemas[name === 'input' ? 'input' : 'output'])
    const unknown = Object.keys(options[name] || {}).find((field) => !fields.includes(field))
    if (unknown !== undefined)
      throw new UserError(`--${name} ${unknown}: the agent has no such field. It has ${fields.join(', ')}.`)
  }
  const lines: ReceivedLine[] = []
  for await (const line of readTextLines(file)) lines.push(parseTextLine(line))
  const { cases, violations } = await casesOfEvals(lines, schemas, options)
  if (violations.length > 0) throw badLines(file, violations.slice(0, MAX_VIOLATIONS))
  const existing = await CasesFile.open(folder)
  const added = withNames(cases, existing.cases)
  if (added.length > 0) await existing.append(added)
  const skipped = cases.length - added.length
  return {
    json: { folder, added: added.map(({ name }) => name), skipped },
    text: [
      `Added ${added.length === 1 ? '1 case' : `${added.length} cases`} to ${join(folder, CASES_FILE)}.`,
      ...(skipped > 0 ? [`${skipped} of ${cases.length} lines have inputs that are cases already.`] : []),
      '',
      `Run them:  ${formatCommand({}, `test ${shellQuote(folder)}`)}`,
    ].join('\n'),
  }
}

const MAX_TITLE = 60

/** The cases with inputs that no other case has. Each is called like the beginning of its first text. */
function withNames(imported: ImportedCase[], existing: TestCase[]): TestCase[] {
  const known = new Set(existing.map(({ input }) => hashJson(input)))
  const names = new CaseNames(existing.map(({ name }) => name))
  return imported.flatMap((each) => {
    const id = hashJson(each.input)
    if (known.has(id)) return []
    known.add(id)
    const text = Object.values(each.input).find(
      (value) => typeof value === 'string' && toSingleLine(value) !== '',
    )
    const title = truncate(toSingleLine(String(text ?? 'imported')), MAX_TITLE)
    return [{ name: names.add(title, id.slice(0, 8)), ...each }]
  })
}
