import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { formatCount } from '../../components/format.ts'
import { Paragraph, toVisible } from '../../components/visible-text.tsx'
import { numberNode, printJson, textNode, valueNode } from '../json-edit.ts'
import { type JsonNode, JsonSyntaxError, readTree } from '../json-node.ts'
import { useLargeInput } from '../use-large-input.ts'
import { FieldFrame, type FieldProps, useControl, useForm } from './field-frame.tsx'

/** An item of a list stays when its text is empty; a field of an object is left out then. */
const isItem = ({ path }: FieldProps) => typeof path.at(-1) === 'number'

export function TextField(props: FieldProps & { isLine: boolean; inputMode: 'text' | 'email' | 'url' }) {
  const { node, path, isLine, inputMode } = props
  const { onChange, onLongText } = useForm()
  const control = useControl(props)
  const value = node?.type === 'string' ? node.value : ''
  const largeInput = useLargeInput<HTMLInputElement & HTMLTextAreaElement>((text) => onLongText(path, text))
  const attributes = {
    ...control,
    ref: largeInput,
    value,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(
        path,
        currentTarget.value === '' && !isItem(props) ? undefined : textNode(currentTarget.value),
      ),
  }
  return (
    <FieldFrame {...props}>
      {/* An input would remove line breaks, and one of type email or url also spaces. */}
      {isLine && !/[\r\n]/.test(value) ? (
        <input {...attributes} type="text" inputMode={inputMode} spellcheck={false} />
      ) : (
        <textarea {...attributes} rows={Math.min(Math.max(value.split('\n', 12).length, 2), 12)} />
      )}
    </FieldFrame>
  )
}

/** Not `type="number"`: browsers change and round what is typed there. */
export function NumberField(props: FieldProps) {
  const { node, path } = props
  const { onChange } = useForm()
  const control = useControl(props)
  const value = node?.type === 'number' ? node.source : node?.type === 'string' ? node.value : ''
  return (
    <FieldFrame {...props}>
      <input
        {...control}
        type="text"
        inputMode="decimal"
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => {
          const typed = currentTarget.value.trim()
          onChange(path, typed === '' && !isItem(props) ? undefined : numberNode(typed))
        }}
      />
    </FieldFrame>
  )
}

const UNSET = 'unset'
const OTHER = 'other'

/** More choices are found by typing. */
const MAX_OPTIONS = 25

type ChoiceProps = FieldProps & { choices: Json[] }

/** One of several values. */
export function ChoiceField({ choices, ...props }: ChoiceProps) {
  const all = props.field.isNullable && !choices.includes(null) ? [...choices, null] : choices
  return all.length > MAX_OPTIONS ? (
    <SearchedChoice {...props} choices={all} />
  ) : (
    <ListedChoice {...props} choices={all} />
  )
}

/** What is typed and is none of the choices stays as text, so that the schema check names it. */
function SearchedChoice({ choices, ...props }: ChoiceProps) {
  const { node, path } = props
  const { onChange } = useForm()
  const control = useControl(props)
  const byLabel = useMemo(() => new Map(choices.map((choice) => [labelOf(choice), choice])), [choices])
  const listId = `${control.id}-choices`
  function change(typed: string) {
    const choice = byLabel.get(typed)
    if (typed === '' && !byLabel.has('') && !isItem(props)) onChange(path, undefined)
    else onChange(path, choice === undefined ? textNode(typed) : valueNode(choice))
  }
  return (
    <FieldFrame {...props}>
      <input
        {...control}
        type="text"
        list={listId}
        autocomplete="off"
        spellcheck={false}
        placeholder={`Type to search ${formatCount(choices.length)} values`}
        value={node ? textOf(node) : ''}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id={listId}>
        {[...byLabel.keys()].map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
    </FieldFrame>
  )
}

const textOf = (node: JsonNode): string =>
  node.type === 'string' ? labelOf(node.value) : shorten(printJson(node, null))

/** What is not among the choices stays until another is chosen. */
function ListedChoice({ choices: all, ...props }: ChoiceProps) {
  const { node } = props
  const { onChange } = useForm()
  const control = useControl(props)
  const texts = all.map((choice) => printJson(valueNode(choice), null))
  const current = node && printJson(node, null)
  const index = current === undefined ? -1 : texts.indexOf(current)
  return (
    <FieldFrame {...props}>
      <select
        {...control}
        value={current === undefined ? UNSET : index >= 0 ? String(index) : OTHER}
        onChange={({ currentTarget: { value } }) => {
          if (value !== OTHER)
            onChange(props.path, value === UNSET ? undefined : valueNode(all[Number(value)]))
        }}
      >
        {typeof props.path.at(-1) !== 'number' && (
          <option value={UNSET}>{props.isRequired ? 'Choose…' : '(not set)'}</option>
        )}
        {all.map((choice, position) => (
          <option key={texts[position]} value={String(position)}>
            {toVisible(labelOf(choice))}
          </option>
        ))}
        {current !== undefined && index < 0 && (
          <option value={OTHER}>{toVisible(shorten(current))} (not allowed)</option>
        )}
      </select>
    </FieldFrame>
  )
}

function labelOf(choice: Json): string {
  if (choice === '') return '(empty text)'
  return typeof choice === 'string' ? choice : shorten(printJson(valueNode(choice), null))
}

const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** A part that has no control of its own, or not for this value. What is not JSON yet stays here. */
export function JsonField(props: FieldProps) {
  const { onChange, onProblem } = useForm()
  const { node, path } = props
  const control = useControl(props)
  const [draft, setDraft] = useState('')
  const typed = parseDraft(draft)
  // The text stays as it was typed, until the value changes elsewhere.
  const isCurrent = typed.problem !== null || isSame(typed.node, node)
  const text = isCurrent ? draft : node ? printJson(node) : ''
  useEffect(() => () => onProblem(path, null), [])

  function change(next: string) {
    setDraft(next)
    const { node: parsed, problem } = parseDraft(next)
    onProblem(path, problem)
    if (problem === null) onChange(path, parsed)
  }

  return (
    <FieldFrame {...props}>
      <textarea
        {...control}
        class="mono"
        spellcheck={false}
        rows={Math.min(Math.max(text.split('\n', 12).length, 2), 12)}
        value={text}
        placeholder="JSON"
        aria-invalid={control['aria-invalid'] || typed.problem !== null}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <Paragraph class="field-error" text={typed.problem} />
    </FieldFrame>
  )
}

type Draft = { node: JsonNode | undefined; problem: string | null }

function parseDraft(text: string): Draft {
  if (text.trim() === '') return { node: undefined, problem: null }
  const read = readTree(text)
  return read instanceof JsonSyntaxError
    ? { node: undefined, problem: read.message }
    : { node: read, problem: null }
}

const isSame = (a: JsonNode | undefined, b: JsonNode | undefined) =>
  (a && printJson(a, null)) === (b && printJson(b, null))
