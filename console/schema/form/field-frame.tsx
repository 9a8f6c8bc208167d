import type { ComponentChildren } from 'preact'
import type { Issue } from '../check/check-text.ts'
import type { Field } from './field.ts'
import { type EditedPart, useFieldIds } from './form-context.ts'

/** What every kind of control is given. */
export type FieldProps = Omit<EditedPart, 'part'> & { field: Field }

/** Label, help and errors around one control. */
export function FieldFrame(props: FieldProps & { children: ComponentChildren }) {
  const { field, path, label, isRequired, actions, children } = props
  const ids = useFieldIds(path)
  return (
    <div class="field">
      <div class="field-label">
        <label for={ids.control}>
          {field.title ?? label} <RequiredMark isRequired={isRequired} />
        </label>
        {actions}
      </div>
      <Help field={field} id={ids.help} />
      {children}
      <Errors issues={ids.issues} id={ids.error} />
    </div>
  )
}

/** A group of controls: an object or a list. */
export function GroupFrame(props: FieldProps & { children: ComponentChildren }) {
  const { field, path, label, isRequired, actions, children } = props
  const ids = useFieldIds(path)
  return (
    <fieldset
      class="field-group"
      id={ids.control}
      aria-describedby={`${ids.help} ${ids.error}`}
      tabIndex={-1}
    >
      <legend>
        {field.title ?? label} <RequiredMark isRequired={isRequired} />
      </legend>
      {actions && <div class="field-group-corner">{actions}</div>}
      <Help field={field} id={ids.help} />
      {children}
      <Errors issues={ids.issues} id={ids.error} />
    </fieldset>
  )
}

/** The attributes that tie a control to its label, help and errors. */
export function useControl({ path, isRequired }: Pick<FieldProps, 'path' | 'isRequired'>) {
  const ids = useFieldIds(path)
  return {
    id: ids.control,
    'aria-describedby': `${ids.help} ${ids.error}`,
    'aria-invalid': ids.issues.length > 0,
    'aria-required': isRequired,
  }
}

const RequiredMark = ({ isRequired }: { isRequired: boolean }) =>
  isRequired ? <span class="field-required">required</span> : null

function Help({ field, id }: { field: Field; id: string }) {
  const hints = [
    field.hint,
    field.default === undefined ? '' : `default: ${JSON.stringify(field.default)}`,
    field.isNullable ? 'can be null' : '',
  ].filter((hint) => hint !== '')
  return (
    <p id={id} class="field-help">
      {field.description && <span>{field.description}</span>}
      {hints.length > 0 && <span class="field-hint">{hints.join(' · ')}</span>}
    </p>
  )
}

/** Always there, so that screen readers notice when an error appears. */
function Errors({ issues, id }: { issues: Issue[]; id: string }) {
  return (
    <div id={id} class="field-errors" aria-live="polite">
      {issues.map(({ message }) => (
        <p key={message} class="field-error">
          {message}
        </p>
      ))}
    </div>
  )
}
