import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { announce, Button } from '../components/button.tsx'
import { ConfirmDialog } from '../components/form-dialog.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useFocusNext } from '../schema/form/field-frame.tsx'
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
  const focusNext = useFocusNext()
  const name = toInputName(typedName)
  const isKnown = inputs.some((each) => each.name === name)

  // Other tabs change the same inputs.
  useEffect(() => {
    const update = ({ key }: StorageEvent) => {
      if (key === null || key === saved.key) setInputs(saved.list())
    }
    window.addEventListener('storage', update)
    return () => window.removeEventListener('storage', update)
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

  function rename(input: SavedInput, next: string) {
    if (!change(saved.rename(input.name, next), 'Renamed.')) return
    focusNext(() => buttonOf(list.current, next, 'rename'))
    setOpened(null)
  }

  async function remove({ name: removed }: SavedInput) {
    change(saved.delete(removed), 'Deleted.')
    setOpened(null)
    // After the dialog has returned the focus to a button that is gone.
    setTimeout(() => (list.current?.querySelector<HTMLElement>('button') ?? nameField.current)?.focus())
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
      <ul ref={list} class="plain-list">
        {inputs.map((input) => (
          <li key={input.name} class="toolbar" data-name={input.name}>
            {opened?.for === 'rename' && opened.name === input.name ? (
              <RenameField
                name={input.name}
                onRename={(next) => rename(input, next)}
                onClose={() => {
                  focusNext(() => buttonOf(list.current, input.name, 'rename'))
                  setProblem(null)
                  setOpened(null)
                }}
              />
            ) : (
              <>
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
                      data-for={label.toLowerCase()}
                      aria-label={`${label} ${input.name}`}
                      onClick={start}
                    />
                  ))}
                </span>
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
                      <VisibleText text={input.name} /> is deleted from this browser. This cannot be undone.
                      The form stays as it is.
                    </p>
                  </ConfirmDialog>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      {inputs.length === 0 && <p class="muted">None yet.</p>}
    </details>
  )
}

function buttonOf(list: HTMLElement | null, name: string, purpose: string): HTMLElement | null | undefined {
  const item = [...(list?.children ?? [])].find((each) => (each as HTMLElement).dataset.name === name)
  return item?.querySelector<HTMLElement>(`[data-for=${purpose}]`)
}

type RenameProps = { name: string; onRename: (next: string) => void; onClose: () => void }

function RenameField({ name, onRename, onClose }: RenameProps) {
  const [typed, setTyped] = useState(name)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const submit = () => toInputName(typed) !== '' && onRename(toInputName(typed))
  return (
    <>
      <input
        ref={field}
        aria-label={`New name of ${name}`}
        value={typed}
        maxLength={MAX_NAME}
        autocomplete="off"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          submit()
        }}
      />
      <span class="actions">
        <Button label="Rename" class="small" onClick={submit} />
        <Button label="Cancel" class="small" onClick={onClose} />
      </span>
    </>
  )
}
