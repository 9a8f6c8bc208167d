import './bar-chart.css'
import { Table } from './data.tsx'

/** `color`: one of the series of the theme. */
export type Series = { name: string; color: 1 | 2 | 3 }

/** One bar: a value for each series, from the bottom up. */
export type ChartBar = { label: string; values: number[] }

type Props = {
  /** What the chart shows, in words. */
  label: string
  /** What the bars stand for, such as "Time": the head of their column in the table. */
  axis: string
  series: Series[]
  bars: ChartBar[]
  format: (value: number) => string
}

const HEIGHT = 100

/** Stacked bars. Everything that they show is also in a table below them. */
export function BarChart({ label, axis, series, bars, format }: Props) {
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const max = Math.max(...totals, 0)
  return (
    <figure class="chart">
      <div class="chart-head">
        <span class="chart-legend">
          {series.length > 1 &&
            series.map(({ name, color }) => (
              <span key={name} class={`series-${color}`}>
                {name}
              </span>
            ))}
        </span>
        <span>max {format(max)}</span>
      </div>
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map((bar, index) => (
          <StackedBar key={bar.label} bar={bar} x={index} max={max} series={series} format={format} />
        ))}
      </svg>
      <div class="chart-axis" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <details>
        <summary>Show as a table</summary>
        <Table
          caption={label}
          columns={[axis, ...series.map(({ name }) => ({ label: name, isNumeric: true }))]}
        >
          {bars.map((bar) => (
            <tr key={bar.label}>
              <th scope="row">{bar.label}</th>
              {series.map(({ name }, index) => (
                <td key={name} class="numeric">
                  {format(bar.values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  )
}

type BarProps = Pick<Props, 'series' | 'format'> & { bar: ChartBar; x: number; max: number }

function StackedBar({ bar, x, max, series, format }: BarProps) {
  let top = HEIGHT
  const texts = series.map(({ name }, index) => `${name}: ${format(bar.values[index] ?? 0)}`)
  return (
    <g>
      <title>{`${bar.label}\n${texts.join('\n')}`}</title>
      {/* The whole column shows the title on hover. */}
      <rect x={x} y={0} width={1} height={HEIGHT} fill="transparent" />
      {series.map(({ name, color }, index) => {
        const height = max === 0 ? 0 : (HEIGHT * (bar.values[index] ?? 0)) / max
        top -= height
        return <rect key={name} class={`series-${color}`} x={x + 0.08} y={top} width={0.84} height={height} />
      })}
    </g>
  )
}
