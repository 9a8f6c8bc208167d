import { useEffect, useState } from 'preact/hooks'
import { Text } from '../../components/visible-text.tsx'
import { printJson } from '../json-edit.ts'
import { type JsonNode, JsonSyntaxError, readTree } from '../json-node.ts'
import { FieldFrame, type FieldProps, useControl, useForm } from './field-frame.tsx'
import { rowsOf } from './value-fields.tsx'

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
        rows={rowsOf(text)}
        value={text}
        placeholder="JSON"
        aria-invalid={control['aria-invalid'] || typed.problem !== null}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <Text class="field-error" text={typed.problem} />
    </FieldFrame>
  )
}

function parseDraft(text: string): { node: JsonNode | undefined; problem: string | null } {
  const read = text.trim() === '' ? undefined : readTree(text)
  return read instanceof JsonSyntaxError
    ? { node: undefined, problem: read.message }
    : { node: read, problem: null }
}

const isSame = (a: JsonNode | undefined, b: JsonNode | undefined) =>
  (a && printJson(a, null)) === (b && printJson(b, null))
