import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiError, withLabels } from '../api/api-error.ts'
import { remove } from '../api/request.ts'
import { type Scope, useScope } from '../state/session.ts'
import { announce, Button } from './button.tsx'
import { Dialog, useAction } from './dialog.tsx'
import { ErrorBox } from './page.tsx'
import { Restored, type TypedForm, useReopen } from './typed-form.tsx'

type ActionProps = {
  class?: string
  submit: ComponentChildren
  busy?: string | undefined
  isDanger?: boolean | undefined
  isReady?: boolean | undefined
  /** What the service calls the fields, and what the form does. */
  labels?: Record<string, string> | undefined
  showError?: ((error: ApiError) => ComponentChildren) | undefined
  /** Before it is sent. @returns whether it may be */
  validate?: ((form: HTMLFormElement) => boolean) | undefined
  send: () => Promise<unknown>
  /** Before and after the button. */
  before?: ComponentChildren
  after?: ComponentChildren
  /** Fields, which may show what is wrong with them. */
  children: ComponentChildren | ((error: ApiError | null) => ComponentChildren)
}

/** A form that is sent once at a time. Its error is above its buttons. */
export function ActionForm(props: ActionProps) {
  const { submit, busy = submit, isDanger, isReady = true, labels = {}, children } = props
  const { showError = (error) => <ErrorBox error={withLabels(error, labels)} /> } = props
  const { isRunning, error, start } = useAction(props.send)
  function send(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    // A dialog may be within another form.
    event.stopPropagation()
    if (isReady && (props.validate?.(event.currentTarget) ?? true)) void start()
  }
  return (
    <form class={props.class ?? 'stack'} onSubmit={send}>
      {typeof children === 'function' ? children(error) : children}
      {error && showError(error)}
      <div class="actions">
        {props.before}
        <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isRunning || !isReady}>
          {isRunning ? busy : submit}
        </button>
        {props.after}
      </div>
    </form>
  )
}

type FormProps = Omit<ActionProps, 'class' | 'before' | 'after'> & {
  title: string
  close?: string
  obstacle?: string | false
  /** Where it is kept what was typed: forgotten when it is sent, or closed. */
  typed?: Pick<TypedForm<object>, 'isRestored' | 'forget'>
  /** Beside what was typed before, which is restored. */
  note?: string
  /** Resolves to false if the form goes on. */
  send: () => Promise<unknown>
  onClose: () => void
}

export function FormDialog({ title, close = 'Close', typed, ...form }: FormProps) {
  const { obstacle, note, children } = form
  function leave() {
    typed?.forget()
    form.onClose()
  }
  return (
    <Dialog title={title} onClose={leave}>
      <ActionForm
        {...form}
        class="form"
        send={async () => (await form.send()) !== false && typed?.forget()}
        before={
          <>
            {obstacle && <span class="field-error">{obstacle}</span>}
            <Button label={close} onClick={leave} />
          </>
        }
      >
        {(error) => (
          <>
            {typed && <Restored typed={typed}>{note}</Restored>}
            {typeof children === 'function' ? children(error) : children}
          </>
        )}
      </ActionForm>
    </Dialog>
  )
}

type ButtonProps = {
  label: string
  scope?: Scope | undefined
  /** False: there is no button. A dialog that is open stays. */
  isOffered?: boolean | undefined
  isDisabled?: boolean | undefined
  class?: string | undefined
  /** The name of a typed form: it opens again with what was typed into it before the page was left. */
  form?: string
  children: (close: () => void) => ComponentChildren
}

export function DialogButton({ label, scope, isDisabled, form, children, ...props }: ButtonProps) {
  const hasScope = useScope(scope ?? 'read') || scope === undefined
  const isOffered = (props.isOffered ?? true) && hasScope
  const [isOpen, setIsOpen] = useState(false)
  useReopen(form ?? null, isOffered, () => setIsOpen(true))
  return (
    <>
      {isOffered && (
        <Button label={label} class={props.class} disabled={isDisabled} onClick={() => setIsOpen(true)} />
      )}
      {isOpen && children(() => setIsOpen(false))}
    </>
  )
}

type ConfirmProps = Pick<FormProps, 'isReady'> & {
  /** The title of the dialog, and the labels of the button that does it and of the one that does not. */
  asks: { title: string; yes: string; no: string }
  /** What it does, and whether it can be undone: paragraphs. */
  text?: string | string[]
  children?: ComponentChildren
  action: () => Promise<unknown>
  /** The text that is announced when it is done. */
  done?: string
  onClose: () => void
}

/** Asks before something that cannot be undone, or has effects elsewhere. */
export const ConfirmDialog = ({
  asks,
  action,
  done,
  onClose,
  text = [],
  children,
  ...form
}: ConfirmProps) => (
  <FormDialog
    {...form}
    title={asks.title}
    submit={asks.yes}
    close={asks.no}
    isDanger
    send={async () => {
      await action()
      if (done !== undefined) announce(done)
      onClose()
    }}
    onClose={onClose}
  >
    {[text].flat().map((paragraph) => (
      <p key={paragraph}>{paragraph}</p>
    ))}
    {children}
  </FormDialog>
)

type ConfirmButtonProps = Omit<ConfirmProps, 'onClose'> & Omit<ButtonProps, 'children' | 'form'>

export const ConfirmButton = (props: ConfirmButtonProps) => {
  const { label, scope, isOffered, isDisabled, class: className, ...dialog } = props
  return (
    <DialogButton {...{ label, scope, isOffered, isDisabled }} class={className}>
      {(close) => <ConfirmDialog {...dialog} onClose={close} />}
    </DialogButton>
  )
}

type DeleteProps = Pick<ConfirmProps, 'text'> &
  Pick<ButtonProps, 'isOffered'> & {
    noun: string
    /** The path of the API. */
    path: string
    onDone: () => void
  }

/** A button that deletes something, after it has asked. */
export const DeleteButton = ({ noun, path, onDone, ...props }: DeleteProps) => (
  <ConfirmButton
    {...props}
    label="Delete…"
    class="danger"
    asks={{ title: `Delete this ${noun}?`, yes: `Delete ${noun}`, no: `Keep ${noun}` }}
    action={() => remove(path).then(onDone)}
    done={`The ${noun} is deleted.`}
  />
)
