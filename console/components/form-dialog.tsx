import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiError, withLabels } from '../api/api-error.ts'
import { type Scope, useScope } from '../state/session.ts'
import { Button } from './button.tsx'
import { announce } from './copy-button.tsx'
import { Dialog, useAction } from './dialog.tsx'
import { ErrorBox } from './page.tsx'
import { Restored, type TypedForm, useReopen } from './typed-form.tsx'

type FormProps = {
  title: string
  submit: ComponentChildren
  busy?: string
  close?: string
  isDanger?: boolean
  isReady?: boolean
  obstacle?: string | false
  /** Where it is kept what was typed: forgotten when it is sent, or closed. */
  typed?: Pick<TypedForm<object>, 'isRestored' | 'forget'>
  /** Beside what was typed before, which is restored. */
  note?: string
  /** What the service calls the fields, and what the form does. */
  labels?: Record<string, string>
  showError?: (error: ApiError) => ComponentChildren
  /** Before it is sent. @returns whether it may be */
  validate?: (form: HTMLFormElement) => boolean
  /** Resolves to false if the form goes on. */
  send: () => Promise<unknown>
  onClose: () => void
  /** Fields, which may show what is wrong with them. */
  children: ComponentChildren | ((error: ApiError | null) => ComponentChildren)
}

/** A form that is sent once at a time. Its error is above its buttons. */
export function FormDialog(props: FormProps) {
  const { title, submit, busy = submit, close = 'Close', isDanger, isReady = true, typed, children } = props
  const { labels = {} } = props
  const { showError = (error) => <ErrorBox error={withLabels(error, labels)} /> } = props
  const { isRunning, error, start } = useAction(async () => {
    if ((await props.send()) !== false) typed?.forget()
  })
  function send(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    // The dialog may be within another form.
    event.stopPropagation()
    if (isReady && (props.validate?.(event.currentTarget) ?? true)) void start()
  }
  function leave() {
    typed?.forget()
    props.onClose()
  }
  return (
    <Dialog title={title} onClose={leave}>
      <form class="form" onSubmit={send}>
        {typed && <Restored typed={typed}>{props.note}</Restored>}
        {typeof children === 'function' ? children(error) : children}
        {error && showError(error)}
        <div class="actions">
          {props.obstacle && <span class="field-error">{props.obstacle}</span>}
          <Button label={close} onClick={leave} />
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isRunning || !isReady}>
            {isRunning ? busy : submit}
          </button>
        </div>
      </form>
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
