import { useEffect, useState } from 'preact/hooks'
import { printJson } from '../json/json-edit.ts'
import { type JsonNode, JsonSyntaxError, parseJsonTree } from '../json/json-node.ts'
import { FieldFrame, type FieldProps, useControl } from './field-frame.tsx'
import { useForm } from './form-context.ts'

/** A part that has no control of its own, or not for this value. What is not JSON yet stays here. */
export function JsonField(props: FieldProps) {
  const { onChange, onProblem, isReadOnly } = useForm()
  const { node, path, label } = props
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
    onProblem(path, problem === null ? null : `${label}: ${problem}`)
    if (problem === null) onChange(path, parsed)
  }

  return (
    <FieldFrame {...props}>
      <textarea
        {...control}
        class="code"
        spellcheck={false}
        rows={Math.min(Math.max(text.split('\n', 12).length, 2), 12)}
        value={text}
        readOnly={isReadOnly}
        placeholder="JSON"
        aria-invalid={control['aria-invalid'] || typed.problem !== null}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      {typed.problem !== null && <p class="field-error">{typed.problem}</p>}
    </FieldFrame>
  )
}

type Draft = { node: JsonNode | undefined; problem: string | null }

function parseDraft(text: string): Draft {
  if (text.trim() === '') return { node: undefined, problem: null }
  try {
    return { node: parseJsonTree(text), problem: null }
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { node: undefined, problem: error.message }
    throw error
  }
}

const isSame = (a: JsonNode | undefined, b: JsonNode | undefined) =>
  (a && printJson(a, null)) === (b && printJson(b, null))
