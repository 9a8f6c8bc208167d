import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { toVisible } from '../../components/visible-text.tsx'
import { FieldFrame, type FieldProps, useControl, useFocusNext, useForm } from './field-frame.tsx'
import { browserZone, joinTime, splitTime, type TimeFormat, toControlValue } from './time-value.ts'
import { Line, useSetText } from './value-fields.tsx'

const TYPES = { date: 'date', 'date-time': 'datetime-local', time: 'time' } as const
/** Years of four digits: the formats have no others, and typing is faster. */
const LATEST = { date: '9999-12-31', 'date-time': '9999-12-31T23:59', time: undefined }
/** The offset of the browser at the time that is entered. */
const LOCAL = 'local'

/** A date, a time, or both with a zone. What the control cannot show exactly is edited as text. */
export function TimeField({ format, ...props }: FieldProps & { format: TimeFormat }) {
  const { node, path, label } = props
  const { onProblem } = useForm()
  const control = useControl(props)
  const focusNext = useFocusNext()
  const value = node?.type === 'string' ? node.value : ''
  const parts = splitTime(format, value)
  const needsText = value !== '' && parts === null
  const [isText, setIsText] = useState(needsText)
  const [isIncomplete, setIsIncomplete] = useState(false)
  const [chosenZone, setChosenZone] = useState(
    parts && parts.zone !== browserZone(parts.local) ? parts.zone : LOCAL,
  )
  const toZone = (choice: string, local: string) => (choice === LOCAL ? browserZone(local) : choice)
  // The value may have been changed elsewhere.
  const zone = parts && toZone(chosenZone, parts.local) !== parts.zone ? parts.zone : chosenZone
  // It stays text while it is typed, even if the control could already show it.
  useEffect(() => {
    if (needsText) setIsText(true)
  }, [needsText])
  useEffect(() => () => onProblem(path, null), [])

  const set = useSetText(props)

  function check({ validity }: HTMLInputElement) {
    setIsIncomplete(validity.badInput)
    onProblem(path, validity.badInput ? INCOMPLETE : null)
  }

  function change(element: HTMLInputElement) {
    const local = element.value
    check(element)
    if (local === '') set('')
    else if (!parts || toControlValue(local) !== toControlValue(parts.local))
      set(joinTime(format, { local, zone: toZone(zone, local) }))
  }

  function changeZone(choice: string) {
    setChosenZone(choice)
    if (parts) set(joinTime(format, { local: parts.local, zone: toZone(choice, parts.local) }))
  }

  function switchView(next: boolean) {
    setIsText(next)
    setIsIncomplete(false)
    onProblem(path, null)
    focusNext(() => document.getElementById(control.id))
  }

  const showsText = isText || needsText
  const switchButton = !(showsText && needsText) && (
    <Button
      label={showsText ? 'Picker' : 'As text'}
      class="small"
      aria-label={showsText ? `Picker for ${label}` : `Text for ${label}`}
      onClick={() => switchView(!showsText)}
    />
  )
  return (
    <FieldFrame
      {...props}
      actions={
        <>
          {switchButton}
          {props.actions}
        </>
      }
    >
      {showsText ? (
        <Line key="text" part={props} value={value} onText={set} />
      ) : (
        <div class="actions field-time" key="picker">
          <input
            {...control}
            aria-invalid={control['aria-invalid'] || isIncomplete}
            type={TYPES[format]}
            max={LATEST[format]}
            step={format === 'date' ? undefined : parts?.local.includes('.') ? '0.001' : '1'}
            value={parts ? toControlValue(parts.local) : ''}
            onInput={({ currentTarget }) => change(currentTarget)}
            onBlur={({ currentTarget }) => check(currentTarget)}
          />
          {format !== 'date' && (
            <select
              aria-label={`Time zone of ${label}`}
              value={zone}
              onChange={({ currentTarget }) => changeZone(currentTarget.value)}
            >
              <option value={LOCAL}>Local time (UTC{browserZone(parts?.local ?? '')})</option>
              <option value="Z">UTC</option>
              {zone !== LOCAL && zone !== 'Z' && <option value={zone}>UTC{toVisible(zone)}</option>}
            </select>
          )}
        </div>
      )}
      {isIncomplete && <p class="field-error">{INCOMPLETE}</p>}
    </FieldFrame>
  )
}

const INCOMPLETE = 'Complete it, or clear it.'
