import type { RefObject } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { formatCount, shorten } from '../../components/format.ts'
import { toVisible } from '../../components/visible-text.tsx'
import { numberNode, printJson, textNode, valueNode } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import { useLargeInput } from '../use-large-input.ts'
import { FieldFrame, type FieldProps, useControl, useForm } from './field-frame.tsx'

export const rowsOf = (text: string) => Math.max(text.split('\n', 12).length, 2)

/** Changes a part by its text. An item of a list stays when this is empty; a field of an object is left out then. */
export function useSetText({ path }: Pick<FieldProps, 'path'>) {
  const { onChange } = useForm()
  return (text: string, toNode: (text: string) => JsonNode = textNode) =>
    onChange(path, text === '' && typeof path.at(-1) !== 'number' ? undefined : toNode(text))
}

type LineProps = {
  part: Pick<FieldProps, 'path' | 'isRequired'>
  value: string
  inputMode?: 'text' | 'email' | 'url' | 'decimal'
  autocomplete?: 'on'
  list?: string
  placeholder?: string
  control?: RefObject<HTMLInputElement | null>
  onText: (text: string) => void
}

/** Not `type="number"`, `"email"` or `"url"`: browsers change what is typed there. */
export const Line = ({ part, control, onText, ...input }: LineProps) => (
  <input
    {...useControl(part)}
    {...(control && { ref: control })}
    type="text"
    autocomplete="off"
    spellcheck={false}
    {...input}
    onInput={({ currentTarget }) => onText(currentTarget.value)}
  />
)

export function TextField(props: FieldProps & { isLine: boolean; inputMode: 'text' | 'email' | 'url' }) {
  const { node, path, isLine, inputMode } = props
  const { onLongText } = useForm()
  const control = useControl(props)
  const set = useSetText(props)
  const value = node?.type === 'string' ? node.value : ''
  const ref = useLargeInput<HTMLInputElement & HTMLTextAreaElement>((text) => onLongText(path, text))
  return (
    <FieldFrame {...props}>
      {/* An input would remove line breaks. */}
      {isLine && !/[\r\n]/.test(value) ? (
        <Line {...{ control: ref, value, inputMode }} part={props} autocomplete="on" onText={set} />
      ) : (
        <textarea
          {...{ ...control, ref, value }}
          rows={rowsOf(value)}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </FieldFrame>
  )
}

export function NumberField(props: FieldProps) {
  const { node } = props
  const set = useSetText(props)
  const value = node?.type === 'number' ? node.source : node?.type === 'string' ? node.value : ''
  return (
    <FieldFrame {...props}>
      <Line part={props} inputMode="decimal" value={value} onText={(text) => set(text.trim(), numberNode)} />
    </FieldFrame>
  )
}

const UNSET = 'unset'
const OTHER = 'other'

/** More choices are found by typing. */
const MAX_OPTIONS = 25

type ChoiceProps = FieldProps & { choices: Json[] }

export function ChoiceField({ choices, ...props }: ChoiceProps) {
  const all = props.field.isNullable && !choices.includes(null) ? [...choices, null] : choices
  const Choice = all.length > MAX_OPTIONS ? SearchedChoice : ListedChoice
  return <Choice {...props} choices={all} />
}

/** What is typed and is none of the choices stays as text, so that the schema check names it. */
function SearchedChoice({ choices, ...props }: ChoiceProps) {
  const set = useSetText(props)
  const byLabel = useMemo(() => new Map(choices.map((choice) => [labelOf(choice), choice])), [choices])
  const listId = useId()
  function change(typed: string) {
    const choice = byLabel.get(typed)
    set(typed, () => (choice === undefined ? textNode(typed) : valueNode(choice)))
  }
  return (
    <FieldFrame {...props}>
      <Line
        part={props}
        list={listId}
        placeholder={`Type to search ${formatCount(choices.length)} values`}
        value={props.node ? textOf(props.node) : ''}
        onText={change}
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
  node.type === 'string' ? labelOf(node.value) : shorten(printJson(node, null), MAX_SHOWN)

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
          <option value={OTHER}>{toVisible(shorten(current, MAX_SHOWN))} (not allowed)</option>
        )}
      </select>
    </FieldFrame>
  )
}

function labelOf(choice: Json): string {
  if (choice === '') return '(empty text)'
  return typeof choice === 'string' ? choice : shorten(printJson(valueNode(choice), null), MAX_SHOWN)
}

const MAX_SHOWN = 80
