import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import { compareJson } from '../../lib/contract/compare-versions.ts'
import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { toDocumentText } from '../../lib/core/agent.ts'
import { isJsonObject, type JsonObject } from '../../lib/core/json/json.ts'
import { parseJsonPointer } from '../../lib/core/json/pointer.ts'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../lib/core/limits.ts'

/** A version that was read with its front matter. */
export type Editable = Pick<VersionDetails, 'instructions'> & { frontMatter: JsonObject }

const DAY_SECONDS = 86_400
const whole = { step: 1 }
const placeholder = 'No limit of its own'

/** The limits that can be edited, by their names in `execution`. */
export const LIMITS = {
  maxAgentSteps: {
    ...{ label: 'Steps at most', placeholder: `The default: ${MAX_AGENT_STEPS.default}` },
    range: { ...MAX_AGENT_STEPS, ...whole },
  },
  timeoutSeconds: { label: 'Seconds at most', placeholder, range: { min: 1, max: DAY_SECONDS, ...whole } },
  maxTokens: { label: 'Tokens at most', placeholder, range: { ...MAX_TOKENS, ...whole } },
  maxCostUsd: { label: 'US dollars at most', placeholder, range: MAX_COST_USD },
}
type Limit = keyof typeof LIMITS
const NAMES = Object.keys(LIMITS) as Limit[]

/** What can be edited, as it is typed. */
export type EditForm = Record<'instructions' | 'model' | 'message' | Limit, string>

/** Why the version cannot be edited in the console; null if it can be. */
export function findObstacle(
  agent: Pick<AgentRecord, 'archivedAt'>,
  version: Pick<VersionDetails, 'code' | 'remote' | 'instructions' | 'frontMatter'>,
  me: Pick<MeRecord, 'httpPublishing' | 'scopes'>,
): string | null {
  if (agent.archivedAt !== null) return 'The agent is archived.'
  if (version.code) return 'Code is edited in its repository.'
  if (version.remote) return 'A remote agent is edited in its repository.'
  if (!me.scopes.includes('manage')) return 'Editing needs a token with the scope manage.'
  if (!me.httpPublishing) return 'Editing needs the setting httpPublishing.'
  if (version.frontMatter === null || withLineBreaks(toLines(version.instructions), version) === null)
    return 'The console cannot write this document without changing more of it: edit it in its repository.'
  return null
}

/** As a text field has it. */
const toLines = (text: string): string => text.replaceAll('\r\n', '\n')

/** A text of a text field with the line breaks of the instructions; null if these have several kinds. */
function withLineBreaks(text: string, { instructions }: Pick<Editable, 'instructions'>): string | null {
  const restore = (lines: string) => (instructions.includes('\r\n') ? lines.replaceAll('\n', '\r\n') : lines)
  const lines = toLines(instructions)
  return restore(lines) === instructions && !lines.includes('\r') ? restore(text) : null
}

export function toEditForm({ instructions, frontMatter: { model = null, execution } }: Editable): EditForm {
  const name = isJsonObject(model) ? model.name : model
  const limits = NAMES.map((limit) => [limit, String((execution as JsonObject)[limit] ?? '')])
  return {
    ...(Object.fromEntries(limits) as Record<Limit, string>),
    ...{ instructions: toLines(instructions), model: String(name ?? ''), message: '' },
  }
}

/** The `agent.md` of the edited version: only what was edited differs. */
export function toEditedDocument(version: Editable, form: EditForm): string {
  const { frontMatter, instructions } = version
  const initial = toEditForm(version)
  const isEdited = (name: keyof EditForm) => form[name] !== initial[name]
  const limits = NAMES.filter(isEdited).map((name) => [
    name,
    form[name] === '' ? undefined : Number(form[name]),
  ])
  const { model } = frontMatter
  const name = form.model.trim() || undefined
  const edited = {
    ...frontMatter,
    execution: { ...(frontMatter.execution as JsonObject), ...Object.fromEntries(limits) },
    ...(isEdited('model') && { model: isJsonObject(model) ? { ...model, name } : name }),
  }
  const text = isEdited('instructions') ? withLineBreaks(form.instructions, version) : instructions
  return toDocumentText(edited as JsonObject, text ?? instructions)
}

/** Texts with more differences take too long to compare. */
const MAX_EDITS = 4_000
/** Lines before the instructions: how many there are is not known, and both git and patch look for the place. */
const LINES_BEFORE = 20

/** A patch of the instructions for `git apply`; null if there are too many differences, or none. */
export function toPatch(slug: string, before: string, after: string): string | null {
  const path = `agents/${slug}/agent.md`
  const names = [`a/${path}`, `b/${path}`] as const
  const options = { context: 3, maxEditLength: MAX_EDITS }
  const patch = structuredPatch(...names, `${before}\n`, `${after}\n`, undefined, undefined, options)
  if (!patch || patch.hunks.length === 0) return null
  const hunks = patch.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + LINES_BEFORE,
    newStart: hunk.newStart + LINES_BEFORE,
  }))
  return formatPatch({ ...patch, hunks }, FILE_HEADERS_ONLY)
}

/** The lines of the front matter that differ, as YAML. Empty if none does. */
export function toChangedLines(before: JsonObject, after: JsonObject): string {
  const changes = compareJson(before, after).map((change) => ({
    names: parseJsonPointer(change.path),
    value: change.after,
  }))
  const line = (name: string, value: unknown) =>
    value === undefined ? `# Remove ${name}` : `${name}: ${JSON.stringify(value)}`
  return [...Map.groupBy(changes, ({ names: [first = ''] }) => first)]
    .flatMap(([first, group]) =>
      group.flatMap(({ names: [, ...rest], value }, index) =>
        rest.length === 0
          ? [line(first, value)]
          : [...(index === 0 ? [`${first}:`] : []), `  ${line(rest.join('.'), value)}`],
      ),
    )
    .join('\n')
}
