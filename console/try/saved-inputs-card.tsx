import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { listen } from '../api/attention.ts'
import { announce, Button } from '../components/button.tsx'
import { ConfirmDialog, FormDialog } from '../components/form-dialog.tsx'
import { useForm } from '../components/typed-form.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { MAX_NAME, type SavedInput, SavedInputs, toInputName } from './saved-inputs.ts'
import { stripFiles } from './strip-files.ts'
import type { InputOwner } from './typed-inputs.ts'

type Props = {
  owner: InputOwner
  text: string
  schema: JsonObject
  /** Replaces the input. @param message what has happened */
  onLoad: (text: string, message: string) => void
}

export function SavedInputsCard({ owner, text, schema, onLoad }: Props) {
  const id = useId()
  const saved = useMemo(() => new SavedInputs(owner), [owner])
  const [inputs, setInputs] = useState(() => saved.list())
  const [typedName, setTypedName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [opened, setOpened] = useState<{ name: string; for: 'rename' | 'delete' } | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const nameField = useRef<HTMLInputElement>(null)

  const name = toInputName(typedName)
  const isKnown = inputs.some((each) => each.name === name)

  // Other tabs change the same inputs.
  useEffect(() => {
    const isOurs = ({ key }: StorageEvent) => key === null || key === saved.key
    return listen(window, { storage: (event) => isOurs(event) && setInputs(saved.list()) })
  }, [saved])

  /** @returns whether it was done */
  function change(refusal: string | null, done: string): boolean {
    setProblem(refusal)
    setInputs(saved.list())
    if (refusal === null) announce(done)
    return refusal === null
  }

  function save() {
    const storable = stripFiles(text, schema)
    if (name === '') return setProblem('Enter a name.')
    if (!storable) return setProblem('Correct the JSON first: files in it cannot be told apart.')
    const done = storable.hadFiles ? 'Saved without its files.' : 'Saved.'
    if (change(saved.save({ name, text: storable.text }), done)) setTypedName('')
  }

  /** @returns why it was not done; null if it was */
  function rename({ name: last }: SavedInput, next: string): string | null {
    const refusal = saved.rename(last, next)
    if (refusal !== null) return refusal
    change(null, 'Renamed.')
    closeAnd(`[aria-label=${CSS.escape(`Rename ${next}`)}]`)
    return null
  }

  async function remove({ name: removed }: SavedInput) {
    change(saved.delete(removed), 'Deleted.')
    closeAnd('button')
  }

  /** The dialog returns the focus to a button that is gone: afterwards, another one of the list gets it. */
  function closeAnd(next: string) {
    setOpened(null)
    setTimeout(() => (list.current?.querySelector<HTMLElement>(next) ?? nameField.current)?.focus())
  }

  return (
    <details class="card saved-inputs">
      <summary>Saved inputs{inputs.length > 0 && ` (${inputs.length})`}</summary>
      <p class="muted">
        They stay in this browser, for everyone who uses it, until they are deleted. Files are not saved.
      </p>
      <div class="actions">
        <label for={`${id}-name`}>Name</label>
        <input
          id={`${id}-name`}
          ref={nameField}
          value={typedName}
          maxLength={MAX_NAME}
          autocomplete="off"
          aria-describedby={`${id}-problem`}
          onInput={({ currentTarget }) => setTypedName(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
            // Not the button that runs the agent.
            event.preventDefault()
            save()
          }}
        />
        <Button label={isKnown ? 'Replace saved input' : 'Save input'} onClick={save} />
      </div>
      <p id={`${id}-problem`} role="alert" class="field-error">
        {problem}
      </p>
      <ul ref={list} class="plain-list lines">
        {inputs.map((input) => (
          <li key={input.name} class="toolbar">
            <VisibleText class="long-text" text={input.name} />
            <span class="actions">
              {Object.entries({
                Load: () => onLoad(input.text, `“${input.name}” is loaded.`),
                Rename: () => setOpened({ name: input.name, for: 'rename' }),
                Delete: () => setOpened({ name: input.name, for: 'delete' }),
              }).map(([label, start]) => (
                <Button
                  label={label}
                  key={label}
                  class="small"
                  aria-label={`${label} ${input.name}`}
                  onClick={start}
                />
              ))}
            </span>
            {opened?.for === 'rename' && opened.name === input.name && (
              <RenameDialog
                name={input.name}
                onRename={(next) => rename(input, next)}
                onClose={() => setOpened(null)}
              />
            )}
            {opened?.for === 'delete' && opened.name === input.name && (
              <ConfirmDialog
                asks={{
                  title: 'Delete this saved input?',
                  yes: 'Delete saved input',
                  no: 'Keep saved input',
                }}
                action={() => remove(input)}
                onClose={() => setOpened(null)}
              >
                <p>
                  <VisibleText text={input.name} /> is deleted from this browser. This cannot be undone. The
                  form stays as it is.
                </p>
              </ConfirmDialog>
            )}
          </li>
        ))}
      </ul>
      {inputs.length === 0 && <p class="muted">None yet.</p>}
    </details>
  )
}

type RenameProps = { name: string; onRename: (next: string) => string | null; onClose: () => void }

function RenameDialog({ name, onRename, onClose }: RenameProps) {
  const form = useForm(() => ({ name }))
  const [problem, setProblem] = useState<string | null>(null)
  const next = toInputName(form.form.name)
  return (
    <FormDialog
      title="Rename this saved input"
      submit="Rename"
      close="Cancel"
      isReady={next !== ''}
      send={async () => setProblem(onRename(next))}
      onClose={onClose}
    >
      {form.fields({ name: { label: 'New name', maxLength: MAX_NAME } }, { name: problem ?? [] })}
    </FormDialog>
  )
}
