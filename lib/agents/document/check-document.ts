import { FRONT_MATTER } from '../../core/agent.ts'
import { isSlug } from '../../core/ids.ts'
import { hasUnpairedSurrogate } from '../../core/json/json.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import { readSetting } from '../../environment.ts'
import { parseModelName } from '../../models/model-name.ts'
import { findPrice } from '../../models/prices/price-table.ts'
import { listMediaTypes } from '../../schema/files/check-file-schemas.ts'
import { type AgentDocument, documentSchema } from './document.ts'
import { explainIssue } from './explain-issue.ts'
import { findKeyProblems } from './keys-schema.ts'
import { findScorerProblems } from './scorers-schema.ts'
import { type GetPosition, type Position, parseYaml, START } from './yaml-file.ts'

/**
 * Bytes of an `agent.md`, also with its YAML aliases expanded. The agent item stores the document twice, and a DynamoDB
 * item can have 400 KB.
 */
const MAX_DOCUMENT_BYTES = 150_000

/** `field` is a dotted path, or null. The message continues a sentence that starts with the field, or the document. */
export type DocumentProblem = Position & { field: string | null; message: string }

type InvalidDocument = { document: null; problems: DocumentProblem[] }
type ParsedDocument = { document: AgentDocument; problems: []; getPosition: GetPosition } | InvalidDocument
export type CheckedDocument = { document: AgentDocument; problems: [] } | InvalidDocument

const FRONT_MATTER_FIELD = 'front matter'

/**
 * Parses an `agent.md`: YAML front matter between two `---` lines, then the instructions.
 * @param defaultSlug the folder's name, used if the document has no slug; null if there is none
 */
export function parseDocument(text: string, defaultSlug: string | null): ParsedDocument {
  const match = FRONT_MATTER.exec(text)
  if (!match) return invalid('must start the file, between two "---" lines', FRONT_MATTER_FIELD)
  const yaml = parseYaml(match[1] ?? '', { linesBefore: 1 })
  if (!('getPosition' in yaml)) {
    const problems = yaml.problems.map((problem) => ({ ...problem, field: FRONT_MATTER_FIELD }))
    return { document: null, problems }
  }

  const { getPosition } = yaml
  const result = documentSchema.safeParse(yaml.values, { reportInput: true })
  const slug = result.data?.slug ?? defaultSlug
  // Each position is searched for in maps of any length.
  const issues = (result.error?.issues ?? []).flatMap(explainIssue).slice(0, MAX_VIOLATIONS)
  const problems = issues.map(({ path, message }) => ({
    ...getPosition(path),
    field: path.join('.') || FRONT_MATTER_FIELD,
    message,
  }))
  if (!result.success) return { document: null, problems: problems.sort((a, b) => a.line - b.line) }
  if (slug === null || !isSlug(slug)) {
    const reason = slug === null ? '' : ` because the folder name "${slug}" is not a valid slug`
    const message = `is required${reason} (lowercase words joined by hyphens)`
    return invalid(message, 'slug', getPosition(['slug']))
  }
  const instructions = text.slice(match[0].length).trim()
  return { document: { ...result.data, slug, instructions }, problems: [], getPosition }
}

const invalid = (message: string, field: string | null = null, position = START): InvalidDocument => ({
  document: null,
  problems: [{ ...position, field, message }],
})

/** Where the document comes from, and whether code comes with it. */
type DocumentSource = {
  /** The slug of a document without one; null if there is none. */
  defaultSlug: string | null
  hasCode: boolean
  /** Completes "code is true, but …". */
  withoutCode: string
  /** Completes "code must be true because …". */
  withCode: string
}

/** Parses an `agent.md` and checks everything that does not need its code. */
export async function checkDocument(text: string, source: DocumentSource): Promise<CheckedDocument> {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES)
    return invalid(`must not be larger than ${MAX_DOCUMENT_BYTES} bytes`)
  const parsed = parseDocument(text, source.defaultSlug)
  if (!parsed.document) return parsed
  const { document, getPosition } = parsed
  const found = [
    ...findConflicts(document, source),
    ...(await findFileProblems(document)),
    ...(await findBudgetProblems(document)),
    ...(await findSearchProblems(document)),
    ...(await findScheduleProblems(document, getPosition)),
    ...findKeyProblems(document),
    ...findScorerProblems(document),
  ]
  const problems = found.map((problem) => ({ ...getPosition(problem.field.split('.')), ...problem }))
  if (problems.length > 0) return { document: null, problems }
  const json = JSON.stringify(document)
  if (hasUnpairedSurrogate(json)) return invalid('contains half of a surrogate pair, which is not text')
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_DOCUMENT_BYTES)
    return invalid(`expands to ${bytes} bytes; the limit is ${MAX_DOCUMENT_BYTES}`)
  return { document, problems: [] }
}

type FieldProblem = Partial<Position> & { field: string; message: string }

/** A code agent has code and no model settings, as has a remote agent; a model agent has instructions and no code. */
function findConflicts(
  {
    code,
    remote,
    env,
    model,
    tools,
    requireTools,
    context,
    instructions,
    execution,
    learning,
    useDynamicLearning,
  }: AgentDocument,
  { hasCode, withCode, withoutCode }: DocumentSource,
): FieldProblem[] {
  if (!code && hasCode) return [{ field: 'code', message: `must be true because ${withCode}` }]
  if (code && remote) return [{ field: 'remote', message: 'must be omitted: code is true' }]
  if (!code && !remote) {
    const problems: FieldProblem[] = []
    const message = 'are required: add text for the model below the front matter'
    if (instructions === '') problems.push({ field: 'instructions', message })
    const noTools = 'must be omitted: the agent has no tools'
    if (requireTools && tools.length === 0) problems.push({ field: 'requireTools', message: noTools })
    const ofCode = 'must be omitted: only the code of an agent has context.fetch'
    if (execution.allowedHosts) problems.push({ field: 'execution.allowedHosts', message: ofCode })
    return problems
  }
  const problems = hasCode || remote ? [] : [{ field: 'code', message: `is true, but ${withoutCode}` }]
  const kind = remote ? 'remote' : 'code'
  const omit = (isPresent: unknown, field: string, reason: string) => {
    if (isPresent) problems.push({ field, message: `must be omitted: a ${kind} agent ${reason}` })
  }
  const noTools = 'has no model that could call tools'
  omit(model, 'model', 'has no model')
  omit(tools.length > 0, 'tools', noTools)
  omit(requireTools !== undefined, 'requireTools', noTools)
  omit(context, 'context', 'has no model')
  omit(execution.models, 'execution.models', 'has no model that a call could override')
  omit(learning, 'learning', 'does not learn')
  omit(useDynamicLearning !== undefined, 'useDynamicLearning', 'does not learn')
  omit(execution.maxParallelToolCalls !== undefined, 'execution.maxParallelToolCalls', noTools)
  omit(remote && env.length > 0, 'env', 'reads no variables of the service')
  omit(remote && execution.allowedHosts, 'execution.allowedHosts', 'has remote.allowedHosts')
  return problems
}

/** Files that the model cannot read. Without a model, the model may be known only where the agent runs. */
async function findFileProblems({ code, remote, model, input }: AgentDocument): Promise<FieldProblem[]> {
  const mediaTypes = listMediaTypes(input)
  if (code || remote || mediaTypes.length === 0) return []
  const { findMediaProblem } = await import('../../models/check-model.ts')
  const problem = firstOf(namesOf(model), (name) => findMediaProblem(parseModelName(name), mediaTypes))
  if (!problem) return []
  return [
    { field: 'input', message: `has a file that the model cannot read. ${problem} Restrict mediaTypes` },
  ]
}

/** Of the models that a run may use. */
function namesOf(model: AgentDocument['model']): string[] {
  const { name, fallbacks = [] } = typeof model === 'object' ? (model ?? {}) : { name: model }
  const first = name ?? readSetting('defaultModel')
  return first ? [first, ...fallbacks] : fallbacks
}

const firstOf = <T, Found>(items: T[], find: (item: T) => Found | null | undefined) =>
  items.map(find).find((found) => found != null)

/**
 * A budget that the service cannot enforce: it sees only the spending of models that it calls itself and whose price it
 * knows. Without a model, the model may be known only where the agent runs.
 */
async function findBudgetProblems({
  code,
  remote,
  model,
  execution,
}: AgentDocument): Promise<FieldProblem[]> {
  const [limit] = (['maxTokens', 'maxCostUsd'] as const).filter((name) => (execution[name] ?? null) !== null)
  if (code && limit) {
    const message = 'must be omitted: the service does not see what the code of an agent spends'
    return [{ field: `execution.${limit}`, message }]
  }
  // A remote agent names its models when it has used them.
  if (remote || (execution.maxCostUsd ?? null) === null) return []
  const names = namesOf(model)
  const prices = await Promise.all(names.map((each) => findPrice(each, process.env)))
  const name = names.find((_, index) => !prices[index])
  if (!name) return []
  const message = `must be omitted: the model ${name} has no price. Use maxTokens, or set its price in MODEL_PRICES`
  return [{ field: 'execution.maxCostUsd', message }]
}

/** A web search that the provider of the model does not have. */
async function findSearchProblems({ model, tools }: AgentDocument): Promise<FieldProblem[]> {
  const index = tools.findIndex(({ webSearch }) => webSearch)
  const search = tools[index]?.webSearch
  if (!search) return []
  const { findSearchProblem } = await import('../../models/check-model.ts')
  const problem = firstOf(namesOf(model), (name) => findSearchProblem(parseModelName(name), search))
  return problem ? [{ field: `tools.${index}.webSearch`, message: `cannot be used. ${problem}` }] : []
}

/** Schedules whose runs could not start. */
async function findScheduleProblems(
  { code, remote, input, schedules = [] }: AgentDocument,
  getPosition: GetPosition,
): Promise<FieldProblem[]> {
  if (schedules.length === 0) return []
  // By index in a list, by name in a map: what does not exist has the position of the enclosing field.
  const at = (index: number, ...fields: string[]) => {
    const name = schedules[index]?.name ?? ''
    const found = [index, name].map((key) => getPosition(['schedules', key, ...fields]))
    const [position = START] = found.sort((a, b) => b.line - a.line || b.column - a.column)
    return { ...position, field: ['schedules', name, ...fields].join('.') }
  }
  const { findInputProblems } = await import('./check-schedule-inputs.ts')
  const unfit = await findInputProblems(input, schedules)
  const options = schedules.flatMap((schedule, index) =>
    (['maxTokens', 'maxCostUsd', 'model'] as const)
      .filter((name) => (code || (remote && name === 'model')) && schedule.options[name] !== undefined)
      .map((name) => ({
        ...at(index, 'options', name),
        message: `must be omitted: a ${remote ? 'remote' : 'code'} agent has no model`,
      })),
  )
  return [
    ...options,
    ...unfit.flatMap(({ schedule, violations }) =>
      violations.map(({ message }) => ({
        ...at(schedule, 'input'),
        message: `does not match the input schema of the agent: ${message.replace(/\.$/, '')}`,
      })),
    ),
  ]
}
