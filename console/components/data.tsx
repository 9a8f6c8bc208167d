import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Button } from './button.tsx'
import { Text, VisibleText } from './visible-text.tsx'

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
