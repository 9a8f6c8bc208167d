type Props<Name extends string> = {
  /** What is chosen, for screen readers. */
  label: string
  choices: Record<Name, string>
  chosen: Name
  isDisabled?: (name: Name) => boolean
  onChoose: (name: Name) => void
}

/** A few views of which one is shown. */
export function Segments<Name extends string>({ label, choices, chosen, isDisabled, onChoose }: Props<Name>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out everywhere.
    <div class="segments" role="group" aria-label={label}>
      {(Object.keys(choices) as Name[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen}
          disabled={isDisabled?.(name)}
          onClick={() => onChoose(name)}
        >
          {choices[name]}
        </button>
      ))}
    </div>
  )
}
