import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { type ApiError, adviceFor } from '../api/api-error.ts'
import { type Scope, signOut, useMe, useScope } from '../state/session.ts'
import { Button, CopyButton } from './button.tsx'
import { Text, TextList, toVisible, VisibleText } from './visible-text.tsx'

/** False until the first page has appeared: then the browser announces the document itself. */
let hasShownPage = false

type Props = {
  /** Plain text: it also names the document. */
  title: string
  parent?: ComponentChildren
  detail?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page with its title. When one replaces another, the focus moves to the title: screen readers announce it. */
export function Page({ title, parent, detail, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${toVisible(title)} · Agent Execution Service`
  }, [title])
  useEffect(() => {
    if (hasShownPage) heading.current?.focus({ preventScroll: true })
    hasShownPage = true
  }, [])
  return (
    <>
      <header class="page-header">
        <div class="actions page-title">
          {parent && <div class="page-parent">{parent}</div>}
          <h1 ref={heading} tabIndex={-1}>
            <VisibleText text={title} />
          </h1>
          {detail}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** Something is being loaded. It takes the space of a few rows, so that little moves when they arrive. */
export const Spinner = ({ label }: { label: string }) => (
  <p class="spinner" role="status">
    <span class="spinner-dot" aria-hidden="true" />
    {label}
  </p>
)

/** What failed, and what to do about it. @param onRetry shown as a button, if repeating the request may help */
export function ErrorBox({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  const { problem, status } = error
  return (
    <section class="error-box" role="alert">
      <Text as="h2" text={problem?.title ?? (status === 0 ? 'No connection' : 'Something went wrong')} />
      <Text text={error.message} />
      {problem?.errors && problem.errors.length > 1 && (
        <TextList texts={problem.errors.map(({ message }) => message)} />
      )}
      <p class="muted">{adviceFor(error)}</p>
      <div class="actions">
        {onRetry && <Button label="Retry" onClick={onRetry} />}
        {status === 403 && <Button label="Sign in with another token" onClick={() => signOut()} />}
        {problem && status >= 500 && (
          <CopyButton text={problem.instance} label={`Copy request ID ${problem.instance}`} />
        )}
      </div>
    </section>
  )
}

/** Content whose every request needs a scope: tokens without it see which one is missing, instead of errors. */
export function NeedsScope({ scope, children }: { scope: Scope; children: ComponentChildren }) {
  const me = useMe()
  if (useScope(scope)) return children
  return (
    <div class="empty">
      <p>
        This page needs a token with the scope <code>{scope}</code>. Yours has {me?.scopes.join(', ')}.
      </p>
      <Button label="Sign in with another token" onClick={() => signOut()} />
    </div>
  )
}

type CardProps = {
  title: string
  actions?: ComponentChildren
  class?: string
  children: ComponentChildren
}

export function Card({ title, actions, class: className = '', children }: CardProps) {
  const id = useId()
  const heading = <Text as="h2" id={id} text={title} />
  return (
    <section class={`card ${className}`} aria-labelledby={id}>
      {actions ? (
        <div class="toolbar">
          {heading}
          {actions}
        </div>
      ) : (
        heading
      )}
      {children}
    </section>
  )
}

/** Names and values, side by side. Values that are null are left out. Texts may be those of somebody else. */
export function Facts({
  facts,
  class: name = '',
}: {
  facts: Record<string, ComponentChildren>
  class?: string
}) {
  return (
    <dl class={`facts ${name}`}>
      {Object.entries(facts).map(([name, value]) =>
        value === null || value === undefined || value === false ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? <VisibleText text={value} /> : value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

type SegmentsProps<Name extends string> = {
  label: string
  choices: Record<Name, string>
  chosen: Name
  isDisabled?: (name: Name) => boolean
  onChoose: (name: Name) => void
}

export function Segments<Name extends string>({
  label,
  choices,
  chosen,
  isDisabled,
  onChoose,
}: SegmentsProps<Name>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out everywhere.
    <div class="segments" role="group" aria-label={label}>
      {(Object.keys(choices) as Name[]).map((name) => (
        <Button
          label={choices[name]}
          key={name}
          aria-pressed={name === chosen}
          disabled={isDisabled?.(name)}
          onClick={() => onChoose(name)}
        />
      ))}
    </div>
  )
}
