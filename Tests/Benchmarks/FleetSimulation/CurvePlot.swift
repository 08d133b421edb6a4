import Foundation

/// A plot of curves over time on a logarithmic scale, as SVG that is legible on light and dark backgrounds.
struct CurvePlot {
  struct Curve {
    var title: String
    /// The points of the curve: seconds and requests per second.
    var points: [(x: Double, y: Double)]
  }

  struct Panel {
    var title: String
    /// The period, in seconds, that is drawn shaded.
    var shaded: Range<Double>
    var from: Double
    var to: Double
    var curves: [Curve]
  }

  let panels: [Panel]
  let heading: String

  private static let width = 860.0
  private static let left = 70.0
  private static let right = 20.0
  private static let top = 84.0
  private static let panelHeight = 250.0
  private static let gap = 74.0
  /// The powers of ten at the ends of the vertical axis.
  private static let scale = -1.0...4.0

  var text: String {
    let height = Self.top + Double(panels.count) * (Self.panelHeight + Self.gap) - 22
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Self.width.whole) \(height.whole)\" "
        + "font-family=\"sans-serif\" font-size=\"13\" role=\"img\">",
      "<title>\(heading)</title>", Self.style,
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>",
      "<text class=\"ink\" x=\"\(Self.left.whole)\" y=\"26\" font-size=\"16\">\(heading)</text>",
    ]
    lines += legend
    for (index, panel) in panels.enumerated() {
      lines += drawn(panel, top: Self.top + Double(index) * (Self.panelHeight + Self.gap))
    }
    return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private static let style = """
    <style>
    .ground { fill: #ffffff } .ink { fill: #24292f } .line { stroke: #d0d7de } .shade { fill: #d0d7de; opacity: 0.45 }
    .curve { fill: none; stroke-width: 2; stroke-linejoin: round }
    .c0 { stroke: #0969da; stroke-width: 3 } .c1 { stroke: #cf222e } .c2 { stroke: #9a6700 }
    @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } .ink { fill: #e6edf3 } .line { stroke: #30363d } .shade { fill: #484f58 }
    .c0 { stroke: #58a6ff } .c1 { stroke: #ff7b72 } .c2 { stroke: #d29922 }
    }
    </style>
    """

  private var legend: [String] {
    var lines: [String] = []
    var x = Self.left
    for (index, curve) in (panels.first?.curves ?? []).enumerated() {
      lines.append("<path class=\"curve c\(index)\" d=\"M\(x.whole) 46h28\"/>")
      lines.append("<text class=\"ink\" x=\"\((x + 36).whole)\" y=\"50\">\(curve.title)</text>")
      x += 66 + 8 * Double(curve.title.count)
    }
    lines.append("<rect class=\"shade\" x=\"\(x.whole)\" y=\"38\" width=\"28\" height=\"16\"/>")
    lines.append("<text class=\"ink\" x=\"\((x + 36).whole)\" y=\"50\">vendor down</text>")
    return lines
  }

  private func drawn(_ panel: Panel, top: Double) -> [String] {
    let (right, bottom) = (Self.width - Self.right, top + Self.panelHeight)
    func x(_ second: Double) -> Double {
      Self.left + (second - panel.from) / (panel.to - panel.from) * (right - Self.left)
    }
    func y(_ rate: Double) -> Double {
      let power = min(max(rate > 0 ? log10(rate) : -9, Self.scale.lowerBound), Self.scale.upperBound)
      return bottom - (power - Self.scale.lowerBound) / (Self.scale.upperBound - Self.scale.lowerBound)
        * Self.panelHeight
    }
    var lines = ["<text class=\"ink\" x=\"\(Self.left.whole)\" y=\"\((top - 8).whole)\">\(panel.title)</text>"]
    let (start, end) = (x(panel.shaded.lowerBound), x(panel.shaded.upperBound))
    lines.append(
      "<rect class=\"shade\" x=\"\(start.tenth)\" y=\"\(top.whole)\" width=\"\((end - start).tenth)\" "
        + "height=\"\(Self.panelHeight.whole)\"/>")
    for power in Int(Self.scale.lowerBound)...Int(Self.scale.upperBound) {
      let height = y(pow(10, Double(power)))
      lines.append("<path class=\"line\" d=\"M\(Self.left.whole) \(height.tenth)H\(right.whole)\"/>")
      lines.append(
        "<text class=\"ink\" x=\"\((Self.left - 8).whole)\" y=\"\((height + 4).tenth)\" text-anchor=\"end\">"
          + "\(power < 0 ? "0.1" : String(Int(pow(10, Double(power)))))</text>")
    }
    for second in stride(from: panel.from, through: panel.to, by: 300) {
      let place = x(second)
      lines.append("<path class=\"line\" d=\"M\(place.tenth) \(bottom.whole)v6\"/>")
      lines.append(
        "<text class=\"ink\" x=\"\(place.tenth)\" y=\"\((bottom + 20).whole)\" text-anchor=\"middle\">"
          + "\(Int(((second - panel.shaded.upperBound) / 60).rounded()))</text>")
    }
    lines.append(
      "<text class=\"ink\" x=\"\(((Self.left + right) / 2).whole)\" y=\"\((bottom + 40).whole)\" "
        + "text-anchor=\"middle\">minutes after the vendor's recovery</text>")
    let middle = (top + bottom) / 2
    lines.append(
      "<text class=\"ink\" transform=\"translate(18 \(middle.whole)) rotate(-90)\" text-anchor=\"middle\">"
        + "requests a second</text>")
    for index in panel.curves.indices.reversed() {
      let points = panel.curves[index].points.filter { (panel.from...panel.to).contains($0.x) }
      let path = points.map { "\(x($0.x).tenth) \(y($0.y).tenth)" }.joined(separator: "L")
      if !path.isEmpty { lines.append("<path class=\"curve c\(index)\" d=\"M\(path)\"/>") }
    }
    return lines
  }
}

extension Double {
  fileprivate var whole: String { Decimals.text(self, 0) }
  fileprivate var tenth: String { Decimals.text(self, 1) }
}
