import { useLargeInput } from '../editor/use-large-input.ts'
import { numberNode, textNode } from '../json/json-edit.ts'
import { FieldFrame, type FieldProps, useControl } from './field-frame.tsx'
import { useForm } from './form-context.ts'

/** An item of a list stays when its text is empty; a field of an object is left out then. */
const isItem = ({ path }: FieldProps) => typeof path.at(-1) === 'number'

export function TextField(props: FieldProps & { isLine: boolean; inputMode: 'text' | 'email' | 'url' }) {
  const { node, path, isLine, inputMode } = props
  const { onChange, onLongText, isReadOnly } = useForm()
  const control = useControl(props)
  const value = node?.type === 'string' ? node.value : ''
  const largeInput = useLargeInput<HTMLInputElement & HTMLTextAreaElement>((text) => onLongText(path, text))
  const attributes = {
    ...control,
    ref: largeInput,
    value,
    readOnly: isReadOnly,
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
  const { onChange, isReadOnly } = useForm()
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
        readOnly={isReadOnly}
        onInput={({ currentTarget }) => {
          const typed = currentTarget.value.trim()
          onChange(path, typed === '' && !isItem(props) ? undefined : numberNode(typed))
        }}
      />
    </FieldFrame>
  )
}
