// colors.js - a palette that colour-blind people can tell apart (Okabe and Ito), and themes.

const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const COPIES = ["#7a5195", "#a6761d", "#1b7837", "#666666"];
const OTHERS = "#8a8f98";

function parse(hex) {
	return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// Mixes a colour with white (share > 0) or black (share < 0).
export function mixed(hex, share) {
	const to = share > 0 ? 255 : 0;
	const part = Math.abs(share);
	return "#" + parse(hex).map((v) => Math.round(v + (to - v) * part).toString(16).padStart(2, "0"))
		.join("");
}

// The colour of the i-th name by time: seven hues in three strengths, then grey.
export function kernelColor(i) {
	const hue = HUES[i % HUES.length];
	const round = Math.floor(i / HUES.length);
	return round === 0 ? hue : round === 1 ? mixed(hue, 0.45) : round === 2 ? mixed(hue, -0.35) : OTHERS;
}

export function otherColor(kind, i) {
	return kind === "copies" ? COPIES[i % COPIES.length] : mixed(HUES[i % HUES.length], 0.3);
}

// names: {kernels: [numbers], copies, markers, count}; colours by number, the last for all others.
export function colorsOf(names) {
	const out = new Array(names.count + 1).fill(OTHERS);
	for (const kind of ["markers", "copies", "kernels"]) {
		names[kind].forEach((number, i) => {
			out[number] = kind === "kernels" ? kernelColor(number) : otherColor(kind, i);
		});
	}
	return out;
}

// Black or white, whichever is easier to read on it (WCAG's relative luminance).
export function textOn(hex) {
	const [r, g, b] = parse(hex).map((v) => {
		const c = v / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}

const THEMES = ["auto", "light", "dark"];

export function nextTheme(now) {
	return THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
}

export function applyTheme(theme) {
	if (theme === "auto") {
		document.documentElement.removeAttribute("data-theme");
	} else {
		document.documentElement.setAttribute("data-theme", theme);
	}
}

// CSS colours for the canvas, which cannot use CSS variables.
export function canvasColors() {
	const style = getComputedStyle(document.documentElement);
	const out = {};
	for (const name of ["fg", "muted", "line", "panel", "accent"]) {
		out[name] = style.getPropertyValue(`--${name}`).trim();
	}
	return out;
}
