import { parseJsonPointer } from '../../lib/core/json/pointer.ts'
import { truncate } from '../../lib/schema/message-text.ts'
import type { Issue } from './check-text.ts'
import { describeField, type Field } from './form/field.ts'
import type { SchemaView } from './schema-view.ts'

/** A mistake in the words of the form. `label`: the labels on the way to its field; empty for the whole value. */
type ExplainedIssue = { label: string; text: string }

type Located = Pick<Issue, 'path' | 'message' | 'kind'>

export function explainIssue(issue: Located, view: SchemaView): ExplainedIssue {
  const { label, field } = findField(issue.path, view)
  return { label, text: explainMessage(issue, field) }
}

/** The labels on the way to a part: `address › city`, `attachments 2 › name`. */
export const labelOf = (pointer: string, view: SchemaView): string => findField(pointer, view).label

const MAX_LABEL = 60

function findField(pointer: string, view: SchemaView): { label: string; field: Field | undefined } {
  const labels: string[] = []
  let field: Field | undefined = describeField(view.root, view)
  for (const name of parseJsonPointer(pointer)) {
    if (field?.kind === 'list' && /^\d+$/.test(name)) {
      labels.push(`${labels.pop() ?? 'item'} ${Number(name) + 1}`)
      field = describeField(field.items, view)
      continue
    }
    const member: Field | undefined = field?.kind === 'object' ? partOf(field.fields, name, view) : undefined
    labels.push(truncate(member?.title ?? name, MAX_LABEL))
    field = member
  }
  return { label: labels.join(' › '), field }
}

function partOf(
  fields: Extract<Field, { kind: 'object' }>['fields'],
  name: string,
  view: SchemaView,
): Field | undefined {
  const found = fields.find((each) => each.name === name)
  return found && describeField(found.schema, view)
}

/** @param field the one with the mistake, if the schema has it */
export const explainMessage = (issue: Located, field: Field | undefined): string =>
  issue.kind === 'syntax' ? issue.message : toAdvice(predicateOf(issue), field)

/** A message of the service without the JSON Pointer that it begins with. */
export function predicateOf({ path, message }: Pick<Issue, 'path' | 'message'>): string {
  const subject = `${path === '' ? 'The value' : truncate(path, 100)} `
  return message.startsWith(subject) ? message.slice(subject.length) : message
}

type Advice = (field: Field | undefined, ...found: string[]) => string

const isList = (field: Field | undefined) => field?.kind === 'list'

/** What to do about the predicates of `lib/schema/validate/error-message.ts`. Others are shown as they are. */
const ADVICE: [RegExp, Advice][] = [
  [/^is required\.$/, (field) => whenMissing(field)],
  [/^must be an integer, not /, () => 'Enter a whole number.'],
  [/^must be a number, not /, () => 'Enter a number.'],
  [/^must be a string, not /, () => 'Enter a text.'],
  [/^must be a boolean, not /, () => 'Choose true or false.'],
  [/^must be an array, not /, () => 'A list is needed here.'],
  [/^must be an object, not /, () => 'An object is needed here: { … }'],
  [/^must be at least (.+)\.$/, (_, min) => `Enter ${min} or more.`],
  [/^must be at most (.+)\.$/, (_, max) => `Enter ${max} or less.`],
  [/^must be greater than (.+)\.$/, (_, min) => `Enter more than ${min}.`],
  [/^must be less than (.+)\.$/, (_, max) => `Enter less than ${max}.`],
  [/^must be a multiple of (.+)\.$/, (_, factor) => `Enter a multiple of ${factor}.`],
  [/^must not be empty\.$/, (field) => (isList(field) ? 'Add at least 1 item.' : 'Enter a value.')],
  [/^must have at least (\d+ items?)\.$/, (_, count) => `Add items: at least ${count}.`],
  [/^must have at most (\d+ items?)\.$/, (_, count) => `Remove items: at most ${count}.`],
  [/^must have at least (\d+ \w+)\.$/, (_, count) => `Enter at least ${count}.`],
  [/^must have at most (\d+ \w+)\.$/, (_, count) => `Enter at most ${count}.`],
  [/^must not contain duplicate items\.$/, () => 'Remove the items that occur twice.'],
  [/^must be (one of .+)\.$/s, (_, choices) => `Choose ${choices}.`],
  [/^must be ((?:a|an) (?:date|time|email|URI|UUID)\b.*)\.$/, (_, format) => `Enter ${format}.`],
  [/^must match the pattern (.+)\.$/s, (_, pattern) => `Enter a text that matches ${pattern}.`],
  [/^must match the format (.+)\.$/s, (_, format) => `Enter a text of the format ${format}.`],
  [
    /^is not defined in the schema; did you mean (.+)\?$/s,
    (_, name) => `Unknown field. Did you mean ${name}?`,
  ],
  [/^is not defined in the schema\.$/, () => 'Unknown field: remove it, or run without strict mode.'],
  [/^is not an? allowed/, () => 'Unknown field: remove it.'],
  [/^is not allowed\.$/, () => 'Remove this value: it is not allowed here.'],
  [/^must be a number that a double/, () => 'Use fewer digits: the agent would receive a rounded number.'],
  [/^must match at least one of/, () => 'This matches none of the allowed forms.'],
  [/^must match exactly one of .+ none\.$/, () => 'This matches none of the allowed forms.'],
  [
    /^must match exactly one of .+ several\.$/,
    () => 'This matches several forms, of which only one is allowed.',
  ],
  [/^does not match the schema\b/, () => 'This does not match the schema.'],
]

function toAdvice(predicate: string, field: Field | undefined): string {
  for (const [expression, advise] of ADVICE) {
    const match = expression.exec(predicate)
    if (match) return advise(field, ...match.slice(1))
  }
  return predicate.charAt(0).toUpperCase() + predicate.slice(1)
}

const WHEN_MISSING: Partial<Record<Field['kind'], string>> = {
  ...{ boolean: 'Choose a value.', choice: 'Choose a value.', number: 'Enter a number.' },
  ...{ file: 'Choose a file.', list: 'Add an item, or an empty list.', object: 'Add this part.' },
}

function whenMissing(field: Field | undefined): string {
  if (field?.kind === 'time') return field.format === 'time' ? 'Enter a time.' : 'Enter a date.'
  return (field && WHEN_MISSING[field.kind]) ?? 'Enter a value.'
}
